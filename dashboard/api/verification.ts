import { useState } from "preact/hooks";
import { ApiError, headwater, type Schemas } from "./client";
import type { Values } from "./configure";
import { type Edits, useEdits } from "./edits";
import { useResource } from "./resource";

export type Verify = Schemas["SourceVerify"];
export type Preset = Schemas["VerifyPreset"];
type Settings = Schemas["VerifySettings"];

/** The provider of a form that has a rule in place of a preset. */
export const OWN_RULE = "rule";
/** As many secrets may match (docs/limits.md). */
const MOST_SECRETS = 3;

/** What a form of a verification has beside secrets. */
interface Fields {
  /** Name of a preset, `OWN_RULE`, or "" for any sender. */
  provider: string;
  rule: Settings["rule"] | null;
  tolerance: number | null;
  reject_with: NonNullable<Settings["reject_with"]>;
  drop_repeats: boolean;
  mode: NonNullable<Settings["mode"]>;
}

export const verifyFields = (verify: Verify | null): Values => ({
  provider: verify === null ? "" : (verify.preset ?? OWN_RULE),
  rule: verify?.rule ?? null,
  tolerance: verify?.tolerance ?? null,
  reject_with: verify?.reject_with ?? 401,
  drop_repeats: verify?.drop_repeats ?? false,
  mode: verify?.mode ?? "enforce",
});

/** What the author of a component says of its HTTP interface (docs/verify.md#in-a-component). */
type AuthorVerify = Pick<Settings, "preset" | "rule" | "tolerance">;

const httpOf = (props: Schemas["ConfigurableProp"][]) =>
  props.find(({ type }) => type === "$.interface.http");

export const authorVerify = (props: Schemas["ConfigurableProp"][]): AuthorVerify | undefined =>
  (httpOf(props) as { verify?: AuthorVerify } | undefined)?.verify;

/**
 * Returns how the requests of a connection's app are verified, as that of a source is shown: what the operator says of the app counts
 * as what an author says.
 */
export function connectionVerify(
  own: Schemas["Verify"] | null,
  ofApp: Schemas["Verify"] | null,
): Verify | null {
  const given = { secrets_given: own?.secrets ?? 0 };
  if (!ofApp) return own && { ...own, ...given, by: "owner" };
  return {
    ...ofApp,
    ...(own && { tolerance: own.tolerance ?? ofApp.tolerance, reject_with: own.reject_with, mode: own.mode }),
    ...{ drop_repeats: ofApp.drop_repeats || (own?.drop_repeats ?? false), by: "author" },
    ...{ secrets: ofApp.secrets + given.secrets_given, ...given },
  };
}

/** Returns what is said of an app's requests as an author says it. */
export const ruleOf = ({ rule, tolerance }: Schemas["Verify"]): AuthorVerify => ({
  ...(rule && { rule }),
  ...(tolerance !== null && { tolerance }),
});

/** Whether code responds to its requests by itself: then it may verify them by itself, too. */
const respondsItself = (props: Schemas["ConfigurableProp"][]): boolean =>
  (httpOf(props) as { custom_response?: boolean } | undefined)?.custom_response === true;

/** Whether a new source with these props is asked who may send: its author has not said it. */
const asksForSender = (props: Schemas["ConfigurableProp"][]): boolean =>
  httpOf(props) !== undefined && authorVerify(props) === undefined;

/** The presets of the server's release; none where they are not needed. */
export const usePresets = (isNeeded = true) =>
  useResource(
    async call => (isNeeded ? (await headwater.sources.verifyPresets(call)).presets : []),
    [isNeeded],
  );

/** What becomes of the secrets, which nobody is shown. */
interface SecretEdits {
  /** A new one; "" for none. */
  text: string;
  /** It goes beside those that are set. */
  isBeside: boolean;
  /** Of those that are set, only the newest stays. */
  dropsOlder: boolean;
}

const NO_SECRET: SecretEdits = { text: "", isBeside: false, dropsOlder: false };

interface Around {
  /** As it is stored; null for any sender, and for what is not deployed. */
  verify: Verify | null;
  author?: AuthorVerify | undefined;
  presets: Preset[];
}

/** A form of how requests are verified: the fields that `edits` keeps, and what becomes of the secrets. */
export function useVerifyForm(edits: Edits<never>, { verify, author, presets }: Around) {
  const [secret, setSecret] = useState(NO_SECRET);
  const values = edits.values as unknown as Fields;
  const isAuthors = verify?.by === "author";
  const preset = presets.find(({ name }) => name === values.provider);
  /** The tolerance that counts unless another one is said. */
  const usual =
    author?.tolerance ??
    (preset ? preset.tolerance : ((author?.rule ?? values.rule)?.timestamp?.tolerance ?? null));
  const isOtherProvider = "provider" in edits.changes;
  const given = isOtherProvider ? 0 : (verify?.secrets_given ?? 0);
  const settings = (): Settings | null => {
    const { provider, rule, tolerance, reject_with, drop_repeats, mode } = values;
    if (provider === "") return null;
    const secrets = secretsOf(secret, given, isOtherProvider);
    return {
      ...(!isAuthors && (provider === OWN_RULE ? rule && { rule } : { preset: provider })),
      ...(tolerance !== null && tolerance !== usual && { tolerance }),
      ...{ reject_with, drop_repeats, mode },
      ...(secrets && { secrets }),
    };
  };
  return {
    values,
    isAuthors,
    preset,
    /** How many secrets of the owner's stay unless something is said of them. */
    given,
    /** True if a secret is in a prop of the component, or was given by the app's operator. */
    hasOther: (verify?.secrets ?? 0) > (verify?.secrets_given ?? 0),
    secret,
    setSecret: (changes: Partial<SecretEdits>) => setSecret(latest => ({ ...latest, ...changes })),
    set: edits.set,
    /** Another provider has another tolerance, and other secrets. */
    choose: (provider: string) => {
      if (provider === values.provider) return;
      edits.set("provider", provider);
      edits.set("tolerance", presets.find(({ name }) => name === provider)?.tolerance ?? null);
    },
    isChanged: edits.isChanged || secret.text !== "" || secret.dropsOlder,
    settings,
    saved: () => setSecret(NO_SECRET),
  };
}

export type VerifyForm = ReturnType<typeof useVerifyForm>;

/** The form of who may send to a new source with these props; `presets` is undefined where that is not asked, or not yet. */
export function useNewSender(props: Schemas["ConfigurableProp"][]) {
  const isAsked = asksForSender(props);
  const presets = usePresets(isAsked);
  const form = useVerifyForm(
    useEdits(null, () => verifyFields(null)),
    { verify: null, author: undefined, presets: presets.data ?? [] },
  );
  return {
    form,
    presets: isAsked ? presets.data : undefined,
    respondsItself: respondsItself(props),
    /** What a request says of it; nothing if anybody may send. */
    settings: () => (isAsked ? form.settings() : null),
  };
}

/** Returns what a request says of the secrets: one that is set is named by its place (docs/verify.md#settings). */
function secretsOf({ text, isBeside, dropsOlder }: SecretEdits, given: number, isOtherProvider: boolean) {
  const kept = Array.from({ length: given }, (_, keep) => ({ keep }));
  if (text !== "") return [...(isBeside ? kept.slice(1 - MOST_SECRETS) : []), text];
  if (dropsOlder) return kept.slice(-1);
  return isOtherProvider ? [] : undefined;
}

/** What is wrong with one of the secrets, whichever it is. */
export const secretFault = (fault: unknown): string | undefined =>
  fault instanceof ApiError
    ? fault.errors.find(({ path }) => path.startsWith("verify.secrets"))?.message
    : undefined;

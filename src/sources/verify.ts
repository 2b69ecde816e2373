import { isDeepStrictEqual } from "node:util";
import { type FieldError, invalidFields } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Source } from "../models/source.ts";
import type { Stores } from "../platform.ts";
import { hasHttpInterface, type StoredProps } from "../props/configure.ts";
import { HTTP_TYPE } from "../props/kinds.ts";
import { type CallError, type DescribedProp, hostError } from "../sandbox/protocol.ts";
import { unusableKeys } from "../verify/faults.ts";
import type { AuthorVerify, VerifySettings } from "../verify/schema.ts";
import { choiceFaults, chosenRule, type RuleChoice } from "../verify/settings.ts";

/** What an owner has said, with the texts of all secrets. */
type Given = Omit<VerifySettings, "secrets"> & { secrets?: string[] };

/** How requests for a source are verified, as it is stored, encrypted. */
export interface StoredVerify
  extends Required<Pick<VerifySettings, "reject_with" | "drop_repeats" | "mode">> {
  /** Who chose the rule: the component's author, or the source's owner. */
  by: "author" | "owner";
  choice: RuleChoice;
  /** Any of them may match. */
  secrets: string[];
  /** Of an author who has it from a hook: the one of `secrets` that the hook has set, null before. Absent otherwise. */
  hook?: string | null;
  /** What the owner has said, from which all of this is made again with each change of the source; null for nothing. */
  given: Given | null;
}

/** What a source's verification is made of. */
interface Parts {
  props: DescribedProp[];
  values: StoredProps;
  /** Of the request: absent to keep what the owner has said, null to take it back. */
  asked: VerifySettings | null | undefined;
  before: StoredVerify | null;
  /** What a hook has set ends with a source's being active. */
  active: boolean;
}

/**
 * Returns how requests for a source are to be verified; null for any sender. What the author of the component says counts, and the
 * owner can only add to it (docs/verify.md#in-a-component). Throws `invalid`.
 */
export function prepareVerify({ props, values, asked, before, active }: Parts): StoredVerify | null {
  if (!hasHttpInterface(props)) {
    if (asked) throw invalidFields([fieldError("", "the component has no HTTP interface")]);
    return null;
  }
  const given = withKeptSecrets(asked, before?.given ?? null);
  const author = authorOf(props);
  if (!author && !given) return null;
  const faults = author ? loosens(given ?? {}, author) : choiceFaults(given ?? {});
  if (faults.length > 0) throw invalidFields(faults.map(({ path, message }) => fieldError(path, message)));
  const kept = author && before && active && isSameRule(author, before) ? (before.hook ?? null) : null;
  const stored = author ? byAuthor(author, given, values, kept) : byOwner(given ?? {});
  checkSecrets(stored);
  return stored;
}

/** Secrets that a request leaves out, or names by their place, stay: clients never see them and could not send them back. */
function withKeptSecrets(asked: VerifySettings | null | undefined, before: Given | null): Given | null {
  if (asked === undefined) return before;
  if (asked === null) return null;
  const { secrets: texts, ...others } = asked;
  const known = before?.secrets;
  const secrets = texts === undefined ? known : texts.map((one, i) => secretAt(one, i, known ?? []));
  return { ...others, ...(secrets && { secrets }) };
}

function secretAt(one: string | number, i: number, known: readonly string[]): string {
  const secret = typeof one === "string" ? one : known[one];
  if (secret !== undefined) return secret;
  throw invalidFields([fieldError(`secrets[${i}]`, "is not the place of a secret that was given before")]);
}

const isSameRule = ({ preset, rule }: RuleChoice, { choice }: StoredVerify): boolean =>
  preset === choice.preset && isDeepStrictEqual(rule, choice.rule);

const authorOf = (props: DescribedProp[]): AuthorVerify | undefined =>
  props.find(({ type, verify }) => type === HTTP_TYPE && verify !== undefined)?.verify as
    | AuthorVerify
    | undefined;

/** Returns where an owner would verify less than the author of the component. */
function loosens(given: Given, author: AuthorVerify): { path: string; message: string }[] {
  const most = chosenRule(author)?.timestamp?.tolerance;
  const { tolerance } = given;
  return [
    ...(["preset", "rule"] as const)
      .filter(name => given[name] !== undefined)
      .map(path => ({ path, message: "is what the component's author says" })),
    ...(tolerance !== undefined && (most === undefined || tolerance > most)
      ? [
          {
            path: "tolerance",
            message: `must be at most the author's${most === undefined ? "" : ` ${most} s`}`,
          },
        ]
      : []),
    ...(given.mode === "report"
      ? [{ path: "mode", message: "must be enforce: the component verifies" }]
      : []),
    ...(given.drop_repeats === false && author.drop_repeats
      ? [{ path: "drop_repeats", message: "must be true: the component says so" }]
      : []),
  ];
}

/** Before anything else is said. */
const DEFAULTS = { reject_with: 401, drop_repeats: false, mode: "enforce" } as const;

const byOwner = (given: Given): StoredVerify => {
  const { preset, rule, tolerance, secrets = [], reject_with, drop_repeats, mode } = given;
  return {
    by: "owner",
    choice: { preset, rule, tolerance },
    secrets,
    reject_with: reject_with ?? DEFAULTS.reject_with,
    drop_repeats: drop_repeats ?? DEFAULTS.drop_repeats,
    mode: mode ?? DEFAULTS.mode,
    given,
  };
};

/** `hook` is what a hook has set so far. */
function byAuthor(
  author: AuthorVerify,
  given: Given | null,
  values: StoredProps,
  hook: string | null,
): StoredVerify {
  const { preset, rule, secret } = author;
  const ofProp = typeof secret === "string" && Object.hasOwn(values, secret) ? values[secret] : undefined;
  const secrets = [
    ...(typeof ofProp === "string" && ofProp !== "" ? [ofProp] : []),
    ...(given?.secrets ?? []),
  ];
  return {
    by: "author",
    choice: { preset, rule, tolerance: given?.tolerance ?? author.tolerance },
    ...(typeof secret === "object" ? withHook(secrets, hook) : { secrets }),
    reject_with: given?.reject_with ?? author.reject_with ?? DEFAULTS.reject_with,
    drop_repeats: given?.drop_repeats ?? author.drop_repeats ?? DEFAULTS.drop_repeats,
    mode: "enforce",
    given,
  };
}

const withHook = (secrets: string[], hook: string | null) => ({
  secrets: hook === null ? secrets : [...secrets, hook],
  hook,
});

/** A secret that is not a key of the rule would reject everything, and its owner would learn it from the provider. */
function checkSecrets({ choice, secrets, hook }: StoredVerify): void {
  const most = LIMITS.verifySecrets.value;
  // A place is kept for what a hook is still to set.
  if (secrets.length + (hook === null ? 1 : 0) > most) {
    throw invalidFields([fieldError("secrets", `must be at most ${most}, with that of the component`)]);
  }
  const rule = chosenRule(choice);
  const unusable = rule ? unusableKeys(rule, secrets) : [];
  if (unusable.length === 0) return;
  throw invalidFields(
    unusable.map(i => fieldError(`secrets[${i}]`, "is not a key of this kind, or not a whole one")),
  );
}

const fieldError = (path: string, message: string): FieldError => ({
  in: "body",
  path: path === "" ? "verify" : `verify.${path}`,
  message,
});

/** Returns how a source's requests are verified; null for any sender. */
export const verifyOf = (
  { secrets }: Pick<Stores, "secrets">,
  { verify }: Pick<Source, "verify">,
): StoredVerify | null => (verify ? (JSON.parse(secrets.open(verify)) as StoredVerify) : null);

/** Returns why a hook can't set this secret for its source; null if it can. */
export function hookSecretFault(
  platform: Pick<Stores, "secrets">,
  source: Pick<Source, "verify">,
  secret: string,
): CallError | null {
  const stored = verifyOf(platform, source);
  if (stored?.hook === undefined) {
    return hostError("ConfigurationError", "setSecret: the source does not verify by the secret of a hook");
  }
  const rule = chosenRule(stored.choice);
  if (!rule || unusableKeys(rule, [secret]).length === 0) return null;
  return hostError("ConfigurationError", "setSecret: it is not a key of this kind, or not a whole one");
}

/**
 * Returns a verification, encrypted, as the hooks of a change leave it: `secret` is what they set, null if they ended it, undefined
 * for neither.
 */
export function withHookSecret<Sealed extends string | null | undefined>(
  { secrets }: Pick<Stores, "secrets">,
  verify: Sealed,
  secret: string | null | undefined,
): Sealed | string {
  const stored = secret === undefined ? null : verifyOf({ secrets }, { verify: verify ?? null });
  if (secret === undefined || stored?.hook === undefined) return verify;
  const others = stored.secrets.slice(0, stored.secrets.length - (stored.hook === null ? 0 : 1));
  return secrets.seal(JSON.stringify({ ...stored, ...withHook(others, secret) }));
}

/** Returns what the API shows of it: everything but the secrets, of which it says how many there are. */
export function presentVerify(platform: Pick<Stores, "secrets">, source: Pick<Source, "verify">) {
  const stored = verifyOf(platform, source);
  if (!stored) return null;
  const { by, choice, secrets, reject_with, drop_repeats, mode, given } = stored;
  return {
    by,
    preset: choice.preset ?? null,
    rule: choice.rule ?? null,
    tolerance: chosenRule(choice)?.timestamp?.tolerance ?? null,
    reject_with,
    drop_repeats,
    mode,
    secrets: secrets.length,
    secrets_given: given?.secrets?.length ?? 0,
  };
}

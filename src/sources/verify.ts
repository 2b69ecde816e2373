import { type FieldError, invalidFields } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Source } from "../models/source.ts";
import type { Stores } from "../platform.ts";
import { hasHttpInterface, type StoredProps } from "../props/configure.ts";
import { HTTP_TYPE } from "../props/kinds.ts";
import type { DescribedProp } from "../sandbox/protocol.ts";
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
}

/**
 * Returns how requests for a source are to be verified; null for any sender. What the author of the component says counts, and the
 * owner can only add to it (docs/verify.md#in-a-component). Throws `invalid`.
 */
export function prepareVerify({ props, values, asked, before }: Parts): StoredVerify | null {
  if (!hasHttpInterface(props)) {
    if (asked) throw invalidFields([fieldError("", "the component has no HTTP interface")]);
    return null;
  }
  const given = withKeptSecrets(asked, before?.given ?? null);
  const author = authorOf(props);
  if (!author && !given) return null;
  const faults = author ? loosens(given ?? {}, author) : choiceFaults(given ?? {});
  if (faults.length > 0) throw invalidFields(faults.map(({ path, message }) => fieldError(path, message)));
  const stored = author ? byAuthor(author, given, values) : byOwner(given ?? {});
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

function byAuthor(author: AuthorVerify, given: Given | null, values: StoredProps): StoredVerify {
  const { preset, rule, secret } = author;
  const ofProp = secret === undefined || !Object.hasOwn(values, secret) ? undefined : values[secret];
  return {
    by: "author",
    choice: { preset, rule, tolerance: given?.tolerance ?? author.tolerance },
    secrets: [...(typeof ofProp === "string" && ofProp !== "" ? [ofProp] : []), ...(given?.secrets ?? [])],
    reject_with: given?.reject_with ?? author.reject_with ?? DEFAULTS.reject_with,
    drop_repeats: given?.drop_repeats ?? author.drop_repeats ?? DEFAULTS.drop_repeats,
    mode: "enforce",
    given,
  };
}

/** A secret that is not a key of the rule would reject everything, and its owner would learn it from the provider. */
function checkSecrets({ choice, secrets }: StoredVerify): void {
  const most = LIMITS.verifySecrets.value;
  if (secrets.length > most) {
    throw invalidFields([
      fieldError("secrets", `must be at most ${most}, with that of the component's prop`),
    ]);
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

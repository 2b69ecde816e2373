import { isDeepStrictEqual } from "node:util";
import { LIMITS } from "../limits/catalogue.ts";
import type { Source } from "../models/source.ts";
import type { Stores } from "../platform.ts";
import { hasHttpInterface, type StoredProps } from "../props/configure.ts";
import { HTTP_TYPE } from "../props/kinds.ts";
import { type CallError, type DescribedProp, hostError } from "../sandbox/protocol.ts";
import {
  type EffectiveVerify,
  effectiveOf,
  type GivenVerify,
  looserFaults,
  presentEffective,
  secretFaults,
  stricter,
  withKeptSecrets,
} from "../verify/effective.ts";
import { invalidVerify } from "../verify/faults.ts";
import type { AuthorVerify, VerifySettings } from "../verify/schema.ts";
import { choiceFaults, type RuleChoice } from "../verify/settings.ts";

/** How requests for a source are verified, as it is stored, encrypted. */
export interface StoredVerify extends EffectiveVerify {
  /** Who chose the rule: the component's author, or the source's owner. */
  by: "author" | "owner";
  /** Of an author who has it from a hook: the one of `secrets` that the hook has set, null before. Absent otherwise. */
  hook?: string | null;
  /** What the owner has said, from which all of this is made again with each change of the source; null for nothing. */
  given: GivenVerify | null;
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
    if (asked) throw invalidVerify([{ path: "", message: "the component has no HTTP interface" }]);
    return null;
  }
  const given = withKeptSecrets(asked, before?.given ?? null);
  const author = authorOf(props);
  if (!author && !given) return null;
  const faults = author
    ? looserFaults(given ?? {}, byAuthorAlone(author), "the component's author")
    : choiceFaults(given ?? {});
  if (faults.length > 0) throw invalidVerify(faults);
  const kept = author && before && active && isSameRule(author, before) ? (before.hook ?? null) : null;
  const stored = author
    ? byAuthor(author, given, values, kept)
    : { by: "owner" as const, ...effectiveOf(given ?? {}), given };
  checkSecrets(stored);
  return stored;
}

const isSameRule = ({ preset, rule }: RuleChoice, { choice }: StoredVerify): boolean =>
  preset === choice.preset && isDeepStrictEqual(rule, choice.rule);

const authorOf = (props: DescribedProp[]): AuthorVerify | undefined =>
  props.find(({ type, verify }) => type === HTTP_TYPE && verify !== undefined)?.verify as
    | AuthorVerify
    | undefined;

/** All of a component's requests are verified, in every source of it. */
const byAuthorAlone = ({ secret: _, ...author }: AuthorVerify, secrets: string[] = []): EffectiveVerify =>
  effectiveOf({ ...author, secrets });

/** `hook` is what a hook has set so far. */
function byAuthor(
  author: AuthorVerify,
  given: GivenVerify | null,
  values: StoredProps,
  hook: string | null,
): StoredVerify {
  const { secret } = author;
  const ofProp = typeof secret === "string" && Object.hasOwn(values, secret) ? values[secret] : undefined;
  const own = typeof ofProp === "string" && ofProp !== "" ? [ofProp] : [];
  const effective = stricter(byAuthorAlone(author, own), given ?? {});
  const ofHook = typeof secret === "object" ? withHook(effective.secrets, hook) : {};
  return { by: "author", ...effective, ...ofHook, given };
}

const withHook = (secrets: string[], hook: string | null) => ({
  secrets: hook === null ? secrets : [...secrets, hook],
  hook,
});

function checkSecrets({ choice, secrets, hook }: StoredVerify): void {
  const most = LIMITS.verifySecrets.value;
  // A place is kept for what a hook is still to set.
  if (secrets.length + (hook === null ? 1 : 0) > most) {
    const message = `must be at most ${most}, with that of the component`;
    throw invalidVerify([{ path: "secrets", message }]);
  }
  const faults = secretFaults(choice, secrets);
  if (faults.length > 0) throw invalidVerify(faults);
}

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
  const [fault] = secretFaults(stored.choice, [secret]);
  return fault ? hostError("ConfigurationError", `setSecret: the secret ${fault.message}`) : null;
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
  return { by: stored.by, ...presentEffective(stored), secrets_given: stored.given?.secrets?.length ?? 0 };
}

import type { KeyObject } from "node:crypto";
import { type ChallengeResponse, challengeResponse } from "./challenges.ts";
import type { Key } from "./keys.ts";
import { addressesOf, prove } from "./proofs.ts";
import type { RejectReason } from "./reasons.ts";
import { DOUBLED, RequestValues, type SignedRequest } from "./request-values.ts";
import type { VerifyRule } from "./schema.ts";
import { confirmationUrlOf } from "./sns.ts";
import { hasValue, isOfToken } from "./tokens.ts";

/** A rule with its keys, ready for requests. */
export interface Verification {
  rule: VerifyRule;
  /** Any of them may match; without one, no request is verified. */
  keys: readonly Key[];
}

/** What becomes of a request. */
export type Verdict =
  | {
      outcome: "verified";
      /** The time that the sender signed, in Unix milliseconds; null if the rule does not check one. */
      atMs: number | null;
    }
  | { outcome: "rejected"; reason: RejectReason }
  | { outcome: "challenge"; response: ChallengeResponse }
  /** It is verified, and says that the sender's service begins to send once this address is requested. */
  | { outcome: "confirmation"; url: string };

const rejected = (reason: RejectReason): Verdict => ({ outcome: "rejected", reason });

/**
 * Decides about a request by its raw bytes. Nothing of it is kept, and no comparison takes a time that depends on what was expected.
 * What is verified may still be a repeat: `requestId` says of what. Without the key that `soughtKey` finds in it, a request whose
 * rule needs one is rejected.
 */
export const verifyRequest = (
  verification: Verification,
  request: SignedRequest,
  nowMs: number,
  published: KeyObject | null = null,
): Verdict => verifyValues(verification, new RequestValues(request), nowMs, published);

/** As `verifyRequest`, of a request whose values have been asked for before: none of it is parsed twice. */
export function verifyValues(
  { rule, keys }: Verification,
  values: RequestValues,
  nowMs: number,
  published: KeyObject | null,
): Verdict {
  const unsigned = challengeResponse(rule, values, null);
  if (unsigned) return { outcome: "challenge", response: unsigned };
  if (keys.length === 0) return rejected("no-secret");
  const proof = prove(rule, keys, values, published);
  if ("reason" in proof) return rejected(proof.reason);
  values.mayParseAll();
  const time = checkTime(rule, values, nowMs);
  if ("reason" in time) return rejected(time.reason);
  const response = challengeResponse(rule, values, proof.key);
  if (response) return { outcome: "challenge", response };
  const url = rule.scheme === "sns" ? confirmationUrlOf(values) : null;
  return url === null ? { outcome: "verified", atMs: time.atMs } : { outcome: "confirmation", url };
}

type Time = { atMs: number | null } | { reason: RejectReason };

/** After the signature, so that an old request is told apart from a forged one. */
function checkTime(rule: VerifyRule, values: RequestValues, nowMs: number): Time {
  if (isOfToken(rule)) return checkClaims(rule, values, nowMs);
  const { at = [], unit = "s", tolerance } = rule.timestamp ?? {};
  if (tolerance === undefined) return { atMs: null };
  const text = values.first(at);
  if (text === DOUBLED) return { reason: "doubled" };
  const atMs = text === undefined ? null : READ_TIME[unit](text);
  if (atMs === null) return { reason: "no-timestamp" };
  if (nowMs - atMs > tolerance * 1000) return { reason: "stale" };
  return atMs - nowMs > tolerance * 1000 ? { reason: "early" } : { atMs };
}

const READ_TIME: Record<"s" | "ms" | "iso", (text: string) => number | null> = {
  s: text => (/^\d{1,11}$/.test(text) ? Number(text) * 1000 : null),
  ms: text => (/^\d{1,14}$/.test(text) ? Number(text) : null),
  iso: text => {
    const ms = /^\d{4}-\d\d-\d\dT[\d:.]{5,16}(?:Z|[+-]\d\d:?\d\d)$/.test(text)
      ? Date.parse(text)
      : Number.NaN;
    return Number.isNaN(ms) ? null : ms;
  },
};

/** Clocks differ. Seconds. */
const CLAIM_TOLERANCE_S = 60;

function checkClaims(rule: VerifyRule, values: RequestValues, nowMs: number): Time {
  const claims = values.claims as Record<string, unknown>;
  const nowS = nowMs / 1000;
  // A key that many senders share has no token that is good for ever.
  const { exp = rule.scheme === "jwks" ? 0 : Number.POSITIVE_INFINITY, nbf = 0, iat } = claims;
  const isNow = Number(exp) > nowS - CLAIM_TOLERANCE_S && Number(nbf) < nowS + CLAIM_TOLERANCE_S;
  const isWanted = Object.entries(rule.claims ?? {}).every(([name, value]) =>
    wantedOf(value, values).some(one => hasValue(claims[name], one)),
  );
  if (!isNow || !isWanted) return { reason: "claims" };
  return { atMs: typeof iat === "number" ? iat * 1000 : null };
}

/** A token may be for the address alone to which it is sent. */
const wantedOf = (value: string, { request }: RequestValues): string[] =>
  value === "{{url}}" ? addressesOf(request.url) : [value];

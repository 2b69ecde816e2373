import { type ChallengeResponse, challengeResponse } from "./challenges.ts";
import type { Key } from "./keys.ts";
import { prove } from "./proofs.ts";
import type { RejectReason } from "./reasons.ts";
import { DOUBLED, RequestValues, type SignedRequest } from "./request-values.ts";
import type { VerifyRule } from "./schema.ts";

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
  | { outcome: "challenge"; response: ChallengeResponse };

const rejected = (reason: RejectReason): Verdict => ({ outcome: "rejected", reason });

/**
 * Decides about a request by its raw bytes. Nothing of it is kept, and no comparison takes a time that depends on what was expected.
 * What is verified may still be a repeat: `requestId` says of what.
 */
export function verifyRequest({ rule, keys }: Verification, request: SignedRequest, nowMs: number): Verdict {
  const values = new RequestValues(request);
  const unsigned = challengeResponse(rule, values, null);
  if (unsigned) return { outcome: "challenge", response: unsigned };
  if (keys.length === 0) return rejected("no-secret");
  const proof = prove(rule, keys, values);
  if ("reason" in proof) return rejected(proof.reason);
  values.trust();
  const time = checkTime(rule, values, nowMs);
  if ("reason" in time) return rejected(time.reason);
  const response = challengeResponse(rule, values, proof.key);
  return response ? { outcome: "challenge", response } : { outcome: "verified", atMs: time.atMs };
}

type Time = { atMs: number | null } | { reason: RejectReason };

/** After the signature, so that an old request is told apart from a forged one. */
function checkTime(rule: VerifyRule, values: RequestValues, nowMs: number): Time {
  if (rule.scheme === "jwt") return checkClaims(rule, values.claims, nowMs);
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

function checkClaims(rule: VerifyRule, given: unknown, nowMs: number): Time {
  const claims = given as Record<string, unknown>;
  const nowS = nowMs / 1000;
  const { exp = Number.POSITIVE_INFINITY, nbf = 0, iat } = claims;
  const isNow = Number(exp) > nowS - CLAIM_TOLERANCE_S && Number(nbf) < nowS + CLAIM_TOLERANCE_S;
  const isWanted = Object.entries(rule.claims ?? {}).every(([name, value]) => claims[name] === value);
  if (!isNow || !isWanted) return { reason: "claims" };
  return { atMs: typeof iat === "number" ? iat * 1000 : null };
}

import { callbackRequest } from "../../deliveries/attempt/callback.ts";
import { EgressError, type EgressErrorCode } from "../../egress/egress-error.ts";
import { AppError } from "../../lib/errors.ts";
import { isSameSecret, newToken } from "../../lib/ids.ts";
import { openPer } from "../../lib/lazy.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Outbound, Stores } from "../../platform.ts";
import { createKeyRateLimiter } from "../../store/limits/key-rate.ts";
import { RpcError } from "../protocol.ts";

/** How long a callback has for its response: from the start of the request to the last byte. */
const CHALLENGE_MS = 10_000;
/** A callback that has responded is asked again after this. */
export const VERIFIED_MS = 24 * 3_600_000;

/** Why a callback is not accepted, as the Events extension names it. It says nothing of what is at the address. */
export type CallbackFault =
  | "connection_refused"
  | "timeout"
  | "tls_error"
  | "http_4xx"
  | "http_5xx"
  | "challenge_failed";

const REASONS: Partial<Record<EgressErrorCode, CallbackFault>> = { timeout: "timeout", tls: "tls_error" };

const failed = (reason: CallbackFault) =>
  new RpcError("callbackEndpoint", `the callback can't be used: ${reason}`, { data: { reason } });

const limitersOf = openPer((platform: Stores) => {
  const limiterOf = (name: string, points: number) =>
    createKeyRateLimiter(platform.redis, {
      keyPrefix: `${platform.keys.rateLimit()}:${name}`,
      ...{ points, durationS: 60, burst: points },
    });
  return {
    ofKey: limiterOf("challenge", LIMITS.mcpChallenges.value),
    ofHost: limiterOf("challenge-host", LIMITS.mcpChallengesOfHost.value),
  };
});

export interface Challenged {
  /** Id of the subscription to be. */
  id: string;
  url: string;
  /** The client's signing key. */
  secret: string;
  /** Of the API key, whose challenges are counted. */
  keyId: string;
  /** True for a callback that has responded rightly to this user before. */
  isKnown: boolean;
}

/**
 * Asks a callback whether it wants what is about to be sent to it: it must send back a text that only who reads its requests can
 * know, so that events go to no address whose owner did not ask for them. Throws CallbackEndpointError, and ResourceExhausted if the
 * key, or all accounts together, ask too many.
 */
export async function challenge(platform: Stores & Outbound, challenged: Challenged): Promise<void> {
  await count(platform, challenged);
  const { id, url, secret } = challenged;
  const nonce = newToken();
  const message = {
    id: `msg_verification_${newToken()}`,
    body: JSON.stringify({ type: "verification", challenge: nonce }),
  };
  const signing = { keys: [secret], atMs: platform.clock() };
  const response = await platform.egress
    .request(url, {
      method: "POST",
      ...callbackRequest(platform.config, { _id: id }, message, signing),
      timeoutMs: CHALLENGE_MS,
      maxResponseBytes: LIMITS.mcpChallengeBytes.value,
    })
    .catch((error: unknown) => {
      if (!(error instanceof EgressError)) throw error;
      if (error.code === "local") throw new AppError("unavailable", "this process can't open connections");
      throw failed(REASONS[error.code] ?? "connection_refused");
    });
  const { status, body, truncated } = response;
  if (status >= 500) throw failed("http_5xx");
  if (status >= 400) throw failed("http_4xx");
  const isRight = status >= 200 && status < 300 && !truncated && isSameSecret(echoIn(body), nonce);
  if (!isRight) throw failed("challenge_failed");
}

/**
 * Throws ResourceExhausted. A host is asked so often by all accounts together, whatever keys and users they have: no account has a stranger's
 * server flooded. Callbacks that are known there are left out, so that who floods it ends no subscription of others.
 */
async function count(platform: Stores, { url, keyId, isKnown }: Challenged): Promise<void> {
  const { ofKey, ofHost } = limitersOf(platform);
  const exceeds = (limit: string, max: number, message: string) =>
    new RpcError("resourceExhausted", message, { data: { limit, max } });
  if (!(await ofKey(keyId)).ok) {
    const message = "too many callbacks are asked with this API key";
    throw exceeds("challenges_per_minute", LIMITS.mcpChallenges.value, message);
  }
  if (isKnown || (await ofHost(new URL(url).hostname)).ok) return;
  const message = "too many callbacks are asked at this host";
  throw exceeds("challenges_per_minute_of_host", LIMITS.mcpChallengesOfHost.value, message);
}

function echoIn(body: Buffer): string {
  try {
    const { challenge: echo } = JSON.parse(body.toString("utf8"));
    return typeof echo === "string" ? echo : "";
  } catch {
    return "";
  }
}

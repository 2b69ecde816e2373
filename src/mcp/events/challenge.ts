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
type Reason = "connection_refused" | "timeout" | "tls_error" | "http_4xx" | "http_5xx" | "challenge_failed";

const REASONS: Partial<Record<EgressErrorCode, Reason>> = { timeout: "timeout", tls: "tls_error" };

const failed = (reason: Reason) =>
  new RpcError("callbackEndpoint", `the callback can't be used: ${reason}`, { data: { reason } });

const limiterOf = openPer((platform: Stores) =>
  createKeyRateLimiter(platform.redis, {
    keyPrefix: `${platform.keys.rateLimit()}:challenge`,
    points: LIMITS.mcpChallenges.value,
    durationS: 60,
    burst: LIMITS.mcpChallenges.value,
  }),
);

export interface Challenged {
  /** Id of the subscription to be. */
  id: string;
  url: string;
  /** The client's signing key. */
  secret: string;
  /** Of the API key, whose challenges are counted. */
  keyId: string;
}

/**
 * Asks a callback whether it wants what is about to be sent to it: it must send back a text that only who reads its requests can
 * know, so that events go to no address whose owner did not ask for them. Throws CallbackEndpointError, and ResourceExhausted for a
 * key that asks too many.
 */
export async function challenge(
  platform: Stores & Outbound,
  { id, url, secret, keyId }: Challenged,
): Promise<void> {
  const { ok } = await limiterOf(platform)(keyId);
  if (!ok) {
    const data = { limit: "challenges_per_minute", max: LIMITS.mcpChallenges.value };
    throw new RpcError("resourceExhausted", "too many callbacks are asked with this API key", { data });
  }
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

function echoIn(body: Buffer): string {
  try {
    const { challenge: echo } = JSON.parse(body.toString("utf8"));
    return typeof echo === "string" ? echo : "";
  } catch {
    return "";
  }
}

import { createHash, randomUUID } from "node:crypto";
import type { Cluster, Redis } from "ioredis";
import type { Context } from "koa";
import { AppError, invalidField } from "../lib/errors.ts";
import { requestState } from "./request-log.ts";
import { respondProblem } from "./respond-error.ts";

/** Whose request it is, and what it asks; the same key with another `request` is a conflict. */
export interface KeyedRequest {
  keyId: string;
  routeId: string;
  request: unknown;
}

/** Runs `handle` once per `Idempotency-Key`, and answers a repetition with the first one's response. */
export type Idempotency = (ctx: Context, request: KeyedRequest, handle: () => Promise<void>) => Promise<void>;

export interface IdempotencyOptions {
  redis: Redis | Cluster;
  /** The Redis key of an identity (hex). */
  keyOf: (identity: string) => string;
  /** Stored answers may hold secrets that are shown once: they are kept sealed. */
  seal: (text: string) => string;
  open: (sealed: string) => string;
}

interface StoredRequest {
  /** Makes every attempt's record another, so that only its own attempt replaces it. */
  attempt: string;
  fingerprint: string;
  response?: { status: number; type: string; body: string };
}

const KEPT_MS = 12 * 3_600_000;
/** How long a request that died with its process blocks its key; longer than any handler runs. */
const IN_FLIGHT_MS = 60_000;
const MAX_KEY_CHARS = 255;

/** KEYS[1] the record; ARGV[1] what it must still be, ARGV[2] what it becomes, or "" to drop it, ARGV[3] milliseconds. */
const REPLACE = `
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == "" then return redis.call("DEL", KEYS[1]) end
redis.call("SET", KEYS[1], ARGV[2], "PX", ARGV[3])
return 1`;

/** Equal for objects that differ in the order of their keys only. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

function readKey(ctx: Context): string | undefined {
  const key = ctx.get("idempotency-key");
  if (key === "") return undefined;
  if (key.length > MAX_KEY_CHARS) {
    throw invalidField("header", "Idempotency-Key", `must have at most ${MAX_KEY_CHARS} characters`);
  }
  return key;
}

/** Without the record a repetition could not be told, and the caller asked for just that: better 503 than twice. */
function unavailable(error: unknown): never {
  throw new AppError("unavailable", "the Idempotency-Key can't be checked right now", { cause: error });
}

/** Answers what the first request of the key was answered; throws 409 when that is another one, or not done. */
function replay(ctx: Context, stored: StoredRequest | undefined, fingerprint: string): void {
  if (stored && stored.fingerprint !== fingerprint) {
    throw new AppError("conflict", "the Idempotency-Key was used for another request");
  }
  if (!stored?.response) {
    throw new AppError("conflict", "a request with this Idempotency-Key is under way", {
      retryAfterMs: 1000,
    });
  }
  ctx.status = stored.response.status;
  ctx.body = stored.response.body;
  ctx.type = stored.response.type;
  ctx.set("Idempotency-Replayed", "true");
}

/** What may be answered again later: not a fault of ours, and not a "try again". */
function responseToKeep(ctx: Context): StoredRequest["response"] {
  const { status, body, type } = ctx;
  if (status >= 500 || status === 429) return undefined;
  if (typeof body === "object" && body !== null && (Buffer.isBuffer(body) || "pipe" in body))
    return undefined;
  const isText = typeof body === "string" || body === null || body === undefined;
  const contentType = type ? ctx.response.get("content-type") : "";
  return { status, type: contentType, body: isText ? (body ?? "") : JSON.stringify(body) };
}

export function createIdempotency({ redis, keyOf, seal, open }: IdempotencyOptions): Idempotency {
  const read = (sealed: string | null) => (sealed ? (JSON.parse(open(sealed)) as StoredRequest) : undefined);

  return async (ctx, { keyId, routeId, request }, handle) => {
    const key = readKey(ctx);
    if (!key) return handle();
    const record = keyOf(sha256([keyId, routeId, key].join("\n")));
    const fingerprint = sha256(canonical(request));
    const attempt = { attempt: randomUUID(), fingerprint };
    const mine = seal(JSON.stringify(attempt));
    const isFirst = await redis.set(record, mine, "PX", IN_FLIGHT_MS, "NX").catch(unavailable);
    if (!isFirst) return replay(ctx, read(await redis.get(record).catch(unavailable)), fingerprint);

    await handle().catch((error: unknown) => respondProblem(ctx, error));
    const response = responseToKeep(ctx);
    const next = response ? seal(JSON.stringify({ ...attempt, response })) : "";
    await redis.eval(REPLACE, 1, record, mine, next, KEPT_MS).catch((error: unknown) => {
      // The work is done: its response counts more than the record of it.
      requestState(ctx).log.warn({ err: error }, "response not kept for its Idempotency-Key");
    });
  };
}

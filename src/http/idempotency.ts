import { createHash, randomUUID } from "node:crypto";
import type { Cluster, Redis } from "ioredis";
import type { Context } from "koa";
import { AppError, invalidField } from "../lib/errors.ts";
import { canonicalJson } from "../lib/json.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { respondProblem } from "./problem.ts";
import { requestState } from "./request-log.ts";

/** What identifies a request: the same `Idempotency-Key` with a different `request` is a conflict. */
export interface KeyedRequest {
  /** Id of the caller's API key. */
  keyId: string;
  /** The account that the request acts for, whose kept responses are bounded. */
  ownerId: string;
  routeId: string;
  /** The checked parameters, and the body as it was sent: two texts may say what is the same number to JavaScript only. */
  request: unknown;
  /** Responds with the resource of this id as it is now; absent if the route creates nothing that can be read. */
  reread?: ((id: string) => Promise<void>) | undefined;
}

/** Runs `handle` once per `Idempotency-Key`; a repeated request receives the response of the first one. */
export type Idempotency = (ctx: Context, request: KeyedRequest, handle: () => Promise<void>) => Promise<void>;

export interface IdempotencyOptions {
  /** Fails with `unavailable` while Redis is away: work that might be done twice is not begun then. */
  redis: Redis | Cluster;
  /** Returns the Redis key for an identity (hex). */
  keyOf: (identity: string) => string;
  /** Encrypts stored responses, because they may contain secrets that are shown only once. */
  seal: (text: string) => string;
  open: (sealed: string) => string;
  /** How long the longest request may take; a record is not renewed after that. */
  longestRequestMs: number;
  /** How long a request that died with its process blocks its key; the bound of the catalogue by default. */
  inFlightMs?: number;
  /** Bytes of responses that are kept for an account in one hour; absent for no bound (docs/limits.md). */
  bytesPerHour?: (ownerId: string) => Promise<number>;
}

interface StoredRequest {
  /** Makes the record of every attempt unique, so that only the attempt that wrote it replaces it. */
  attempt: string;
  fingerprint: string;
  /** With `id` instead of its body if it was large: then the resource is read again. */
  response?: { status: number; type: string; body: string; id?: string };
}

/** Renewals of a record until it expires: two may fail. */
const RENEWALS = 3;
/** A larger body is not kept if its resource can be read again: Redis must not hold what MongoDB has. */
const MAX_KEPT_BODY_CHARS = 4 * 1024;
const HOUR_MS = 3_600_000;

/**
 * Replaces a record unless it has changed since. KEYS[1]: the record. ARGV[1]: its expected value. ARGV[2]: its new
 * value, or "" to delete it. ARGV[3]: its time to live in milliseconds.
 */
const REPLACE = `
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == "" then return redis.call("DEL", KEYS[1]) end
redis.call("SET", KEYS[1], ARGV[2], "PX", ARGV[3])
return 1`;

/**
 * Extends a record in progress, or stores it again if it is lost; no effect on the record of another request. KEYS[1]:
 * the record. ARGV[1]: its value. ARGV[2]: its time to live in milliseconds.
 */
const RENEW = `
local stored = redis.call("GET", KEYS[1])
if stored and stored ~= ARGV[1] then return 0 end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
return 1`;

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

function readKey(ctx: Context): string | undefined {
  const key = ctx.get("idempotency-key");
  if (key === "") return undefined;
  if (key.length > LIMITS.idempotencyKeyCharacters.value) {
    throw invalidField(
      "header",
      "Idempotency-Key",
      `must have at most ${LIMITS.idempotencyKeyCharacters.value} characters`,
    );
  }
  return key;
}

/** Sends the stored response of the first request; throws `conflict` if that one was different or is not done yet. */
async function replay(
  ctx: Context,
  stored: StoredRequest | undefined,
  fingerprint: string,
  reread: KeyedRequest["reread"],
): Promise<void> {
  if (stored && stored.fingerprint !== fingerprint) {
    throw new AppError("conflict", "the Idempotency-Key was already used for a different request");
  }
  if (!stored?.response) {
    throw new AppError("conflict", "a request with this Idempotency-Key is still in progress", {
      retryAfterMs: 1000,
    });
  }
  const { status, type, body, id } = stored.response;
  ctx.set("Idempotency-Replayed", "true");
  if (id !== undefined && reread) {
    await reread(id);
    ctx.status = status;
    return;
  }
  ctx.status = status;
  ctx.body = body;
  ctx.type = type;
}

/** Returns the id in the body of a response, `{"data": {"id": …}}`. */
function idIn(body: string): string | undefined {
  const { data } = JSON.parse(body) as { data?: { id?: unknown } };
  return typeof data?.id === "string" ? data.id : undefined;
}

/** What the responses kept for one account use up in an hour, counted beside their records. */
class KeptBytes {
  readonly #options: IdempotencyOptions;
  constructor(options: IdempotencyOptions) {
    this.#options = options;
  }

  #key(ownerId: string): string {
    return this.#options.keyOf(`bytes:${ownerId}:${Math.floor(Date.now() / HOUR_MS)}`);
  }

  /** Throws `rate-limited` if the account has used up its hour. */
  async check(ownerId: string): Promise<void> {
    const most = await this.#options.bytesPerHour?.(ownerId);
    if (most === undefined) return;
    if (Number(await this.#options.redis.get(this.#key(ownerId))) < most) return;
    throw new AppError("rate-limited", "too many responses are kept for this account's Idempotency-Keys", {
      retryAfterMs: HOUR_MS - (Date.now() % HOUR_MS),
    });
  }

  async add(ownerId: string, bytes: number): Promise<void> {
    if (!this.#options.bytesPerHour) return;
    const key = this.#key(ownerId);
    await this.#options.redis.multi().incrby(key, bytes).pexpire(key, HOUR_MS).exec();
  }
}

/** Returns the response as it is stored; undefined for server errors and rate limiting, which a retry may get past. */
function responseToStore(ctx: Context, canReread: boolean): StoredRequest["response"] {
  const { status, body, type } = ctx;
  if (status >= 500 || status === 429) return undefined;
  const isBinary = typeof body === "object" && body !== null && (Buffer.isBuffer(body) || "pipe" in body);
  if (isBinary) return undefined;
  const isText = typeof body === "string" || body === null || body === undefined;
  const contentType = type ? ctx.response.get("content-type") : "";
  const text = isText ? (body ?? "") : JSON.stringify(body);
  const id = canReread && status < 300 && text.length > MAX_KEPT_BODY_CHARS ? idIn(text) : undefined;
  return { status, type: contentType, body: id === undefined ? text : "", ...(id !== undefined && { id }) };
}

/** Renews the record of a request while its handler runs, so that a repeated request never runs beside it. */
class Renewal {
  readonly #timer: NodeJS.Timeout;

  constructor(renew: () => Promise<unknown>, { everyMs, longestMs }: { everyMs: number; longestMs: number }) {
    const endMs = performance.now() + longestMs;
    this.#timer = setInterval(() => {
      if (performance.now() > endMs) this.stop();
      else void renew();
    }, everyMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** Returns the function that serves `Idempotency-Key`; records are kept in Redis for 12 hours. */
export function createIdempotency(options: IdempotencyOptions): Idempotency {
  const { redis, keyOf, seal, open, longestRequestMs } = options;
  const { inFlightMs = LIMITS.idempotencyInFlightMs.value } = options;
  const read = (sealed: string | null) => (sealed ? (JSON.parse(open(sealed)) as StoredRequest) : undefined);
  const kept = new KeptBytes(options);

  return async (ctx, { keyId, ownerId, routeId, request, reread }, handle) => {
    const key = readKey(ctx);
    if (!key) return handle();
    const { log } = requestState(ctx);
    const record = keyOf(sha256([keyId, routeId, key].join("\n")));
    const fingerprint = sha256(canonicalJson(request));
    const attempt = { attempt: randomUUID(), fingerprint };
    const inProgress = seal(JSON.stringify(attempt));
    const isFirst = await redis.set(record, inProgress, "PX", inFlightMs, "NX");
    if (!isFirst) return replay(ctx, read(await redis.get(record)), fingerprint, reread);

    const renew = () =>
      redis.eval(RENEW, 1, record, inProgress, inFlightMs).catch((error: unknown) => {
        log.warn({ err: error }, "the record of an Idempotency-Key could not be renewed");
      });
    const renewal = new Renewal(renew, { everyMs: inFlightMs / RENEWALS, longestMs: longestRequestMs });
    // A rejection too, since it is not stored: the key stays free.
    const work = async () => {
      await kept.check(ownerId);
      await handle();
    };
    await work()
      .catch((error: unknown) => respondProblem(ctx, error))
      .finally(() => renewal.stop());
    const response = responseToStore(ctx, reread !== undefined);
    const done = response ? seal(JSON.stringify({ ...attempt, response })) : "";
    const stored = redis.eval(REPLACE, 1, record, inProgress, done, LIMITS.idempotencyStoredMs.value);
    await Promise.all([stored, kept.add(ownerId, record.length + done.length)]).catch((error: unknown) => {
      // The work is done, so the caller receives the response although it could not be stored.
      log.warn({ err: error }, "response could not be stored for its Idempotency-Key");
    });
  };
}

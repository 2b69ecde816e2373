import type { Context } from "koa";
import { AppError } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";

/** A smaller body counts for nothing: it is read in no time. */
const COUNTED_FROM_BYTES = 64 * 1024;
const RETRY_AFTER_MS = 1000;

/** Large bodies that one web process holds at a time: parsed, they take several times their size. */
export class BodyShares {
  #bytes = 0;
  readonly #ofUsers = new Map<string, number>();

  /**
   * Counts the body of a request that is about to be read, of at most `maxBytes` bytes; returns the function to call once
   * the request is done. Throws `rate-limited` if those of the user, `unavailable` if those of all, are too many.
   */
  acquire(ctx: Context, userId: string, maxBytes: number): () => void {
    const bytes = announcedBytes(ctx, maxBytes);
    if (bytes < COUNTED_FROM_BYTES) return () => undefined;
    const ofUser = this.#ofUsers.get(userId) ?? 0;
    const retry = { retryAfterMs: RETRY_AFTER_MS };
    if (ofUser + bytes > LIMITS.publishedBytesInFlightOfUser.value) {
      throw new AppError("rate-limited", "too many large bodies of this user at once", retry);
    }
    if (this.#bytes + bytes > LIMITS.publishedBytesInFlight.value) {
      throw new AppError("unavailable", "too many large bodies at once", retry);
    }
    this.#bytes += bytes;
    this.#ofUsers.set(userId, ofUser + bytes);
    return () => {
      this.#bytes -= bytes;
      const left = (this.#ofUsers.get(userId) ?? 0) - bytes;
      if (left > 0) this.#ofUsers.set(userId, left);
      else this.#ofUsers.delete(userId);
    };
  }
}

/** What a body may have: its length if the request says so, and the most if it is compressed or sent in chunks. */
function announcedBytes({ req: { headers } }: Context, maxBytes: number): number {
  const length = Number(headers["content-length"] ?? Number.NaN);
  const isPlain = (headers["content-encoding"] ?? "identity") === "identity";
  if (Number.isFinite(length) && isPlain) return Math.min(length, maxBytes);
  return headers["transfer-encoding"] !== undefined || !isPlain ? maxBytes : 0;
}

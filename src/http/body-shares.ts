import type { Context } from "koa";
import { Slots } from "../fairness/slots.ts";
import { LIMITS } from "../limits/catalogue.ts";

/** A smaller body counts for nothing: it is read in no time. */
const COUNTED_FROM_BYTES = 64 * 1024;

/** Large bodies that one web process holds at a time: parsed, they take several times their size. */
export class BodyShares {
  readonly #bytes = new Slots({
    perAccount: LIMITS.publishedBytesInFlightOfUser.value,
    total: LIMITS.publishedBytesInFlight.value,
    what: "large bodies",
  });

  /**
   * Counts the body of a request that is about to be read, of at most `maxBytes` bytes; returns the function to call once
   * the request is done. Throws `rate-limited` if those of the user, `unavailable` if those of all, are too many.
   */
  acquire(ctx: Context, userId: string, maxBytes: number): () => void {
    const bytes = announcedBytes(ctx, maxBytes);
    if (bytes < COUNTED_FROM_BYTES) return () => undefined;
    this.#bytes.hold(userId, bytes);
    return () => this.#bytes.release(userId, bytes);
  }
}

/** What a body may have: its length if the request says so, and the most if it is compressed or sent in chunks. */
function announcedBytes({ req: { headers } }: Context, maxBytes: number): number {
  const length = Number(headers["content-length"] ?? Number.NaN);
  const isPlain = (headers["content-encoding"] ?? "identity") === "identity";
  if (Number.isFinite(length) && isPlain) return Math.min(length, maxBytes);
  return headers["transfer-encoding"] !== undefined || !isPlain ? maxBytes : 0;
}

/** The first wait; each further one is twice as long. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8000;
/** For how long a server may ask by default. */
export const LONGEST_RETRY_AFTER_MS = 60_000;

/**
 * Whether the same request may get past this response. A 409 has a `Retry-After` only while the first attempt with the
 * same idempotency key is still under way.
 */
export function isPassing(status: number, retryAfterMs: number | null): boolean {
  if (status === 409) return retryAfterMs !== null;
  return status === 408 || status === 429 || status >= 500;
}

/** How long to wait before retry number `retry` (from 0): never shorter than the server asked for. */
export function waitMs(retry: number, retryAfterMs: number | null): number {
  const jitter = 0.5 + Math.random() / 2;
  const own = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** retry) * jitter;
  return retryAfterMs === null ? own : retryAfterMs + own / 5;
}

/** Reads a `Retry-After` header: seconds, or a date. Null without one that can be read. */
export function readRetryAfter(header: string | null, now = Date.now()): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

/** Resolves after `ms`, or rejects with the reason of `signal` once it aborts. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

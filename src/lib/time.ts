/** Unix seconds of Unix milliseconds, as `created_at` and `updated_at` hold them. */
export const unixSeconds = (ms: number): number => Math.floor(ms / 1000);

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The pattern of a text that `durationMs` reads. */
export const DURATION = "[0-9]+(ms|s|m|h|d)";

/** Returns the milliseconds of a text such as `5s`, `10m` or `24h`; NaN for any other text. */
export function durationMs(text: string): number {
  const [, amount, unit] = /^([0-9]+)(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  return Number(amount) * (UNIT_MS[unit ?? ""] ?? Number.NaN);
}

/** Waits at most `ms` milliseconds for a promise to settle; returns true if it did. Rejects as the promise does. */
export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<false>(resolve => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([promise.then(() => true), timedOut]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves as the promise does if it settles within `ms` milliseconds; otherwise rejects with `timeoutError()`. */
export async function withDeadline<T>(
  promise: Promise<T>,
  ms: number,
  timeoutError: () => Error = () => new Error(`no response within ${ms} ms`),
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timeoutError()), ms);
  });
  try {
    return await Promise.race([promise, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}

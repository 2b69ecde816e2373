/** 429s and time-outs wait at least this long: the endpoint is busy, and another request makes it no freer (design.md). */
export const BUSY_FLOOR_MS = 60_000;
/** Each step is spread by this share to both sides, so that what failed together does not come back together. */
const JITTER = 0.2;

/** Between two attempts at the head of an ordered line, which holds up all behind it (docs/decisions/0011). */
const HEAD_WAITS_MS = 3_600_000;

/** The steps by which a webhook's deliveries are tried again: an ordered one's are shorter, and so is its giving up. */
export function scheduleOf(
  scheduleMs: readonly number[],
  { ordered }: { ordered: boolean },
): readonly number[] {
  return ordered ? scheduleMs.map(ms => Math.min(ms, HEAD_WAITS_MS)) : scheduleMs;
}

/** Milliseconds that a `Retry-After` asks for: seconds or an HTTP date; null where it is absent or malformed. */
export function parseRetryAfter(text: string | null, nowMs: number): number | null {
  if (text === null) return null;
  const trimmed = text.trim();
  if (/^[0-9]{1,9}$/.test(trimmed)) return Number(trimmed) * 1000;
  // An HTTP date begins with the day's name; `Date.parse` alone takes much that is none, such as `-5`.
  const at = /^[A-Za-z]{3,9},? /.test(trimmed) ? Date.parse(trimmed) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

export interface Wait {
  scheduleMs: readonly number[];
  /** Attempts made since the schedule began, the failed one included. */
  step: number;
  retryAfterMs: number | null;
  /** The answer was 429, or none came in time. */
  busy: boolean;
  busyFloorMs: number;
  /** In [0, 1). */
  random: () => number;
}

/**
 * Milliseconds until the next attempt; null when the schedule is used up. `Retry-After` replaces the jitter, clamped to
 * 1–2 times the step, so that no endpoint hurries us or holds a delivery for ever.
 */
export function nextDelayMs({
  scheduleMs,
  step,
  retryAfterMs,
  busy,
  busyFloorMs,
  random,
}: Wait): number | null {
  const delay = scheduleMs[step - 1];
  if (delay === undefined) return null;
  const wait =
    retryAfterMs === null
      ? delay * (1 - JITTER + 2 * JITTER * random())
      : Math.min(Math.max(retryAfterMs, delay), 2 * delay);
  return Math.round(busy ? Math.max(wait, busyFloorMs) : wait);
}

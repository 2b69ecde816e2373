/** Work that waits for good reason, as at a slow endpoint, is looked at by the sweeps ever less often, up to this. */
export const MAX_PUT_OFF_MS = 15 * 60_000;

/** Of an item that a sweep found to wait for good reason. Both Unix milliseconds. */
export interface PutOff {
  /** When a sweep looked at it last. */
  at_ms: number;
  /** When one looks again, unless something has moved the item since: then the item itself has another time. */
  to_ms: number;
}

/**
 * Returns the expression, of an update with a pipeline, of the moment at which a sweep looks again: the longer the item has
 * waited since `sinceMs`, an expression as well, the later. Unix milliseconds.
 */
export function putOffTo(nowMs: number, sinceMs: unknown, sweepEveryMs: number): object {
  const age = { $subtract: [nowMs, sinceMs] };
  return { $add: [nowMs, { $max: [sweepEveryMs, { $min: [age, MAX_PUT_OFF_MS] }] }] };
}

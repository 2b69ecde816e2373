import type { Outcome } from "./outcome.ts";

/**
 * Calls `work` for each entry, `atOnce` at a time, until all are done, `stop` aborts, or one call throws: then those under way
 * come to their end, and the error is thrown.
 */
export async function examineAll<Entry>(
  entries: readonly Entry[],
  atOnce: number,
  stop: AbortController,
  work: (entry: Entry) => Promise<Outcome>,
): Promise<void> {
  const waiting = [...entries];
  const errors: unknown[] = [];
  const one = async () => {
    for (let next = waiting.shift(); next !== undefined && !stop.signal.aborted; next = waiting.shift()) {
      await work(next).catch(error => {
        if (!stop.signal.aborted) errors.push(error);
        stop.abort();
      });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  if (errors.length > 0) throw errors[0];
}

/** What is probed by default: soon after one another at first, then less and less often, since probes cost what they wait for. */
const FIRST_MS = 15;
const MOST_MS = 100;
const SHARE_OF_WAIT = 0.1;

/**
 * Calls `probe` again and again until it returns something truthy, and returns that: with `everyMs` after so long each time, else
 * after a tenth of the time so far (15 to 100 ms). Errors of `probe` count as not yet. Throws after `timeoutMs` (default 90 000),
 * naming `what`.
 */
export async function until<T>(
  probe: () => T | Promise<T>,
  options: { timeoutMs?: number; everyMs?: number; what?: string } = {},
): Promise<Exclude<T, false | 0 | "" | null | undefined>> {
  const startedAt = Date.now();
  const deadline = startedAt + (options.timeoutMs ?? 90_000);
  const pauseMs = () => {
    const ofWait = SHARE_OF_WAIT * (Date.now() - startedAt);
    return options.everyMs ?? Math.min(Math.max(ofWait, FIRST_MS), MOST_MS);
  };
  let last: unknown;
  while (Date.now() < deadline) {
    try {
      const value = await probe();
      if (value) return value as Exclude<T, false | 0 | "" | null | undefined>;
      last = value;
    } catch (error) {
      last = error;
    }
    await new Promise(resolve => setTimeout(resolve, pauseMs()));
  }
  const seen = last instanceof Error ? last.message : JSON.stringify(last);
  throw new Error(`not so in time: ${options.what ?? probe.toString()} (last seen: ${seen})`);
}

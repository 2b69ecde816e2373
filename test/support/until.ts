/**
 * Calls `probe` every `everyMs` (default 15; more for one that costs the system under test much) until it returns something truthy,
 * and returns that. Errors of `probe` count as not yet. Throws after `timeoutMs` (default 90 000), naming `what`.
 */
export async function until<T>(
  probe: () => T | Promise<T>,
  options: { timeoutMs?: number; everyMs?: number; what?: string } = {},
): Promise<Exclude<T, false | 0 | "" | null | undefined>> {
  const deadline = Date.now() + (options.timeoutMs ?? 90_000);
  let last: unknown;
  while (Date.now() < deadline) {
    try {
      const value = await probe();
      if (value) return value as Exclude<T, false | 0 | "" | null | undefined>;
      last = value;
    } catch (error) {
      last = error;
    }
    await new Promise(resolve => setTimeout(resolve, options.everyMs ?? 15));
  }
  const seen = last instanceof Error ? last.message : JSON.stringify(last);
  throw new Error(`not so in time: ${options.what ?? probe.toString()} (last seen: ${seen})`);
}

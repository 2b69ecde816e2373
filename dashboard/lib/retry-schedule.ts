/** What stands for a schedule without a wait. */
const NONE = "none";

/** A retry schedule as it is typed: its waits, `none` for no retries, and nothing for the server's own. */
export const scheduleText = (schedule: readonly string[] | null): string =>
  schedule === null ? "" : schedule.join(", ") || NONE;

/** The schedule that a text means. Whether each is a duration is for the server to say. */
export function scheduleOf(text: string): string[] | null {
  const waits = text.split(/[\s,;]+/).filter(wait => wait !== "");
  if (waits.length === 0) return null;
  return waits.length === 1 && waits[0]?.toLowerCase() === NONE ? [] : waits;
}

/** What the server says of a schedule, where it begins with the index of a wait. */
export const waitFault = (fault: string | undefined): string | undefined =>
  fault?.replace(/^(\d+) /, (_, index) => `Wait ${Number(index) + 1} `);

/** A process that nothing is known of yet. */
const AT_FIRST = 8;
const MOST = 100;
/** JSON of events on their way to a child at a time; they are held twice meanwhile. */
const MOST_BYTES = 256 * 1024;
/** How much more is tried after calls that left time over. */
const GROWTH = 4;

/** How many calls a process is given at a time: as many as it is likely to end, since what it leaves is sent again. */
export function createWindow() {
  let size = AT_FIRST;
  return {
    /** The JSON of the first events, as many as fit, at least one. */
    fit(events: unknown[], most: number): string[] {
      const texts: string[] = [];
      let bytes = 0;
      for (const event of events.slice(0, Math.max(1, Math.min(size, most)))) {
        const text = JSON.stringify(event) ?? "null";
        bytes += Buffer.byteLength(text);
        if (texts.length > 0 && bytes > MOST_BYTES) break;
        texts.push(text);
      }
      return texts;
    },
    /** `done` calls have ended of those given, in this share of the time there was. */
    learn(given: number, done: number, share: number): void {
      if (done < given) size = Math.max(1, done);
      else if (share < 1 / GROWTH) size = Math.min(MOST, Math.max(size, given * GROWTH));
    },
  };
}

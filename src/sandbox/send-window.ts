/** For a process whose speed is not known yet. */
const INITIAL_SIZE = 8;
const MAX_SIZE = 100;
/** JSON bytes of the events that are sent to a child at a time. Until they are handled, both processes hold them. */
const MAX_BYTES = 256 * 1024;
/** The factor by which the size grows after a batch that left most of its time unused. */
const GROWTH = 4;

/**
 * How many calls are sent to a process at a time: as many as it is likely to complete, because what it does not start
 * in time has to be sent again.
 */
export class SendWindow {
  #size = INITIAL_SIZE;

  /** Returns the first events as JSON: at least one, at most `maxCalls`, and as many as fit into the window. */
  select(events: unknown[], maxCalls: number): string[] {
    const selected: string[] = [];
    let bytes = 0;
    for (const event of events.slice(0, Math.max(1, Math.min(this.#size, maxCalls)))) {
      const json = JSON.stringify(event) ?? "null";
      bytes += Buffer.byteLength(json);
      if (selected.length > 0 && bytes > MAX_BYTES) break;
      selected.push(json);
    }
    return selected;
  }

  /**
   * Adjusts the size after a batch: `completed` of the calls that were `sent`, in `timeShare` of the permitted time.
   */
  adjust(sent: number, completed: number, timeShare: number): void {
    if (completed < sent) this.#size = Math.max(1, completed);
    else if (timeShare < 1 / GROWTH) this.#size = Math.min(MAX_SIZE, Math.max(this.#size, sent * GROWTH));
  }
}

/** How long work may take the thread before others get a turn. Milliseconds. */
const TURN_MS = 5;

/** Divides long work of the thread into turns: what others wait for comes in between. */
export class Breaks {
  #since = performance.now();

  /** To be awaited between pieces of the work; resolves after a turn of the event loop if one is due. */
  next(): Promise<void> | void {
    if (performance.now() - this.#since < TURN_MS) return undefined;
    return new Promise(resolve =>
      setImmediate(() => {
        this.#since = performance.now();
        resolve();
      }),
    );
  }
}

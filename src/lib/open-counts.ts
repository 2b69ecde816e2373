/** How many things of each account or user are open in this process, such as streams. */
export class OpenCounts {
  readonly #open = new Map<string, number>();

  /** Counts one more; returns what counts it as closed, or null, and counts nothing, if `most` are open. */
  open(key: string, most: number): (() => void) | null {
    const count = this.#open.get(key) ?? 0;
    if (count >= most) return null;
    this.#open.set(key, count + 1);
    return () => {
      const left = (this.#open.get(key) ?? 1) - 1;
      if (left > 0) this.#open.set(key, left);
      else this.#open.delete(key);
    };
  }
}

/** A caller that waits for a process of this key, on behalf of this owner. */
export interface Waiter {
  key: string;
  owner: string;
}

/** The callers that wait for a process, in order of arrival. */
export class WaitQueue<T extends Waiter> {
  // A set keeps the order of insertion.
  readonly #waiters = new Set<T>();

  get size(): number {
    return this.#waiters.size;
  }

  add(waiter: T): void {
    this.#waiters.add(waiter);
  }

  /** Returns false if the waiter was no longer in the queue. */
  remove(waiter: T): boolean {
    return this.#waiters.delete(waiter);
  }

  /**
   * Returns the first eligible waiter of the owner with the smallest load; if several owners have the same load, the
   * first of their waiters. The waiter remains in the queue.
   */
  next(isEligible: (waiter: T) => boolean, loadOf: (owner: string) => number): T | undefined {
    let best: T | undefined;
    let bestLoad = Number.POSITIVE_INFINITY;
    for (const waiter of this.#waiters) {
      const load = loadOf(waiter.owner);
      if (load >= bestLoad || !isEligible(waiter)) continue;
      [best, bestLoad] = [waiter, load];
      if (load === 0) break;
    }
    return best;
  }

  count(predicate: (waiter: T) => boolean): number {
    return [...this.#waiters].filter(predicate).length;
  }

  /** Removes all waiters and returns them. */
  clear(): T[] {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    return waiters;
  }
}

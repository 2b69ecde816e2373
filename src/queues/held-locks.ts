/** Renewed so many times before a lock would expire. */
const PER_LOCK = 4;

interface Held {
  id: string;
  token: string;
  since: number;
}

/** Renews locks of jobs; returns the ids of those that it could not renew. */
type Renew = (ids: string[], tokens: string[], durationMs: number) => Promise<string[]>;

/**
 * Renews the locks of the jobs that a worker has fetched, each until it is done with it. BullMQ's own renewal knows jobs by
 * their id only: when a job returns to its queue and the same worker fetches it again at once, the end of its first
 * execution makes BullMQ forget the second, whose lock expires, and another worker starts the job a second time.
 */
export class HeldLocks {
  readonly #held = new Set<Held>();
  readonly #durationMs: number;
  readonly #renew: Renew;
  readonly #onFailure: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #isRenewing = false;

  constructor(durationMs: number, renew: Renew, onFailure: (error: unknown) => void) {
    this.#durationMs = durationMs;
    this.#renew = renew;
    this.#onFailure = onFailure;
    this.#timer = setInterval(() => void this.#renewAll(), durationMs / PER_LOCK).unref();
  }

  get count(): number {
    return this.#held.size;
  }

  /** Renews the lock of this execution of a job from now on, until the returned function is called. */
  hold(id: string, token: string): () => void {
    const held = { id, token, since: performance.now() };
    this.#held.add(held);
    return () => void this.#held.delete(held);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Leaves out those that were locked a moment ago: most jobs are done before their lock must be renewed. */
  async #renewAll(): Promise<void> {
    const before = performance.now() - this.#durationMs / PER_LOCK;
    const due = [...this.#held].filter(({ since }) => since <= before);
    // Redis may be away, and what waits for it must not grow.
    if (due.length === 0 || this.#isRenewing) return;
    this.#isRenewing = true;
    const ids = due.map(({ id }) => id);
    try {
      const tokens = due.map(({ token }) => token);
      const failed = new Set(await this.#renew(ids, tokens, this.#durationMs));
      // Those that ended in between have no lock any more.
      const [lost] = due.filter(held => failed.has(held.id) && this.#held.has(held));
      if (lost) this.#onFailure(new Error(`the lock of job ${lost.id} was lost`));
    } catch (error) {
      this.#onFailure(error);
    } finally {
      this.#isRenewing = false;
    }
  }
}

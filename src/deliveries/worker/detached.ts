import { settlesWithin } from "../../lib/deadline.ts";

/**
 * An attempt in flight for longer leaves its job: its delivery is a pending document by then, so that no crash loses it, and
 * the job's slot is free for others (docs/design.md#guarantee-5). Milliseconds.
 */
export const DETACH_MS = 1000;

/** Attempts that are still in flight although their jobs are over. */
export class Detached {
  readonly #work = new Map<Promise<unknown>, (reason: unknown) => void>();

  /** Lets work outlive its job; `stop` ends it with the worker. */
  add(work: Promise<unknown>, stop: (reason: unknown) => void): void {
    this.#work.set(work, stop);
    const forget = () => this.#work.delete(work);
    work.then(forget, forget);
  }

  /** Waits for what is in flight; after `deadlineMs` it is stopped, and stays pending. */
  async close(deadlineMs: number): Promise<void> {
    if (await settlesWithin(Promise.allSettled([...this.#work.keys()]), deadlineMs)) return;
    for (const stop of this.#work.values()) stop(new Error("the worker is stopping"));
    await Promise.allSettled([...this.#work.keys()]);
  }
}

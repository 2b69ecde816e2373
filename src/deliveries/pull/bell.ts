import type { Awaited, Stores } from "../../platform.ts";

/** Rings for one waiting pull when something was kept for it. */
export class Bell {
  /** True once it may have missed something, since this process has lost Redis, or once its caller has left. */
  isOver = false;
  #hasRung = false;
  #ringing: (() => void) | undefined;

  ring(): void {
    this.#hasRung = true;
    this.#ringing?.();
  }

  end(): void {
    this.isOver = true;
    this.ring();
  }

  /** Waits until it rings, for at most so long; not at all if it has rung since the last wait. */
  async wait(ms: number): Promise<void> {
    if (!this.#hasRung) {
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, ms);
        this.#ringing = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#hasRung = false;
  }
}

/** Calls `work` with a bell that rings for a listener, until `signal` aborts. Throws `unavailable`. */
export async function withBell<T>(
  platform: Stores & Awaited,
  listenerId: string,
  signal: AbortSignal,
  work: (bell: Bell) => Promise<T>,
): Promise<T> {
  const bell = new Bell();
  const onAbort = () => bell.end();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) bell.end();
  let unsubscribe: (() => Promise<void>) | undefined;
  try {
    const feed = await platform.feed();
    unsubscribe = await feed.subscribe(platform.keys.pullFeed(listenerId), {
      onMessage: () => bell.ring(),
      onLost: () => bell.end(),
    });
    return await work(bell);
  } finally {
    signal.removeEventListener("abort", onAbort);
    void unsubscribe?.().catch(() => undefined);
  }
}

/** A signal that aborts when the caller's does, or after a time without `extend`. */
export interface Deadline {
  signal: AbortSignal;
  /** Whether the time was up, and not the caller's signal. */
  isOver(): boolean;
  /** Starts the time again. */
  extend(): void;
  /** Must be called at the end: a timer would keep the process alive. */
  clear(): void;
}

/** Timers end at once beyond it. */
const LONGEST_MS = 2 ** 31 - 1;

/** Starts a deadline of `ms`. */
export function startDeadline(ms: number, caller?: AbortSignal): Deadline {
  const controller = new AbortController();
  const onAbort = () => controller.abort(caller?.reason);
  let isOver = false;
  let timer: ReturnType<typeof setTimeout>;
  const start = () => {
    timer = setTimeout(
      () => {
        isOver = true;
        controller.abort(new Error(`nothing arrived for ${ms} ms`));
      },
      Math.min(ms, LONGEST_MS),
    );
  };
  if (caller?.aborted) onAbort();
  else caller?.addEventListener("abort", onAbort, { once: true });
  start();
  return {
    signal: controller.signal,
    isOver: () => isOver,
    extend() {
      clearTimeout(timer);
      start();
    },
    clear() {
      clearTimeout(timer);
      caller?.removeEventListener("abort", onAbort);
    },
  };
}

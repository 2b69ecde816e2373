/** One failure may be bad luck; after this many in a row, the next start is taken to fail as well. */
const FAILURES_IN_A_ROW = 3;

/** Whether this process can start sandboxes: full disks, missing programs and used-up limits of the system end that. */
export class SandboxHealth {
  #failures = 0;
  #problem: string | undefined;
  #onUnhealthy: () => void = () => undefined;

  /** Why no sandbox can be started; undefined while they can. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Calls `listener` whenever sandboxes can't be started any longer. There is one listener. */
  whenUnhealthy(listener: () => void): void {
    this.#onUnhealthy = listener;
    if (this.#problem !== undefined) listener();
  }

  startFailed(error: unknown): void {
    this.#failures += 1;
    if (this.#failures < FAILURES_IN_A_ROW || this.#problem !== undefined) return;
    this.#problem = error instanceof Error ? error.message : String(error);
    this.#onUnhealthy();
  }

  startSucceeded(): void {
    this.#failures = 0;
    this.#problem = undefined;
  }
}

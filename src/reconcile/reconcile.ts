import { settlesWithin } from "../lib/deadline.ts";
import { AppError } from "../lib/errors.ts";
import type { HeldLock } from "../lib/held-lock.ts";
import type { Platform } from "../platform.ts";
import { holdLock } from "../store/lock.ts";
import { removeSetAside, setAside } from "../store/set-aside.ts";
import type { SweepStep } from "../store/sweep-turns.ts";
import { sweepSteps } from "./steps.ts";
import { runTurn } from "./turn.ts";

/** A step that has more to do pauses after this share of `SWEEP_EVERY`, so that it never uses a worker for itself. */
const BUDGET_SHARE = 2 / 3;
const MAX_BUDGET_MS = 20_000;
/** The lock of a killed process is free after this. Milliseconds. */
const MAX_LOCK_MS = 30_000;
/** How long turns may take to end when their process stops. */
const STOP_MS = 2000;
/** Under this item a step is set aside that fails outside of its items. */
const WHOLE_STEP = "(whole step)";

/**
 * Repairs what must agree between MongoDB, Redis and the queues: work that was stored and never enqueued because of a
 * crash in between, timers that do not tick, sources between two states (docs/design.md#guarantee-2). Each process may
 * reconcile; the one that holds the lock does. Each step has a turn every `SWEEP_EVERY`, side by side with the others, so
 * that neither a long backlog nor a failure of one step delays another; a turn that uses up its time continues in the next.
 */
export class Reconciler {
  readonly #platform: Platform;
  readonly #steps: SweepStep[];
  readonly #stopped = new AbortController();
  /** Turns under way, by step. */
  readonly #turns = new Map<string, Promise<void>>();
  #lock: HeldLock | undefined;
  #isAcquiring = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(platform: Platform, steps: SweepStep[] = sweepSteps(platform)) {
    this.#platform = platform;
    this.#steps = steps;
  }

  /** Starts a round of turns now and every `SWEEP_EVERY`. */
  start(): void {
    const round = () => void this.round();
    this.#timer = setInterval(round, this.#platform.config.sweepEveryMs);
    round();
  }

  /** Stops; turns under way end with their batch, and any process continues them. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopped.abort();
    // If a store is away a turn may wait for it; interrupted anywhere, the next one repeats its batch.
    await settlesWithin(Promise.allSettled([...this.#turns.values()]), STOP_MS);
    if (this.#lock) await settlesWithin(this.#lock.release(), STOP_MS);
  }

  /**
   * Starts a turn of each step that has none under way, if this process holds the lock or can acquire it. Resolves with
   * what they repaired, by step, when all have ended.
   */
  async round(): Promise<Record<string, number>> {
    const repaired: Record<string, number> = {};
    const lock = await this.#hold();
    if (!lock) return repaired;
    const mustEnd = () => this.#stopped.signal.aborted || lock.lost.aborted;
    const turns = this.#steps
      .filter(({ name }) => !this.#turns.has(name))
      .map(async step => {
        const turn = this.#turn(step, mustEnd, count => {
          repaired[step.name] = (repaired[step.name] ?? 0) + count;
        }).finally(() => this.#turns.delete(step.name));
        this.#turns.set(step.name, turn);
        await turn;
      });
    await Promise.all(turns);
    const found = Object.entries(repaired).filter(([, count]) => count > 0);
    if (found.length > 0) this.#platform.log.warn(Object.fromEntries(found), "reconciled");
    return repaired;
  }

  async #hold(): Promise<HeldLock | undefined> {
    if (this.#lock && !this.#lock.lost.aborted) return this.#lock;
    // While Redis is away this waits for it: rounds that come due in between must not pile up.
    if (this.#isAcquiring || this.#stopped.signal.aborted) return undefined;
    this.#isAcquiring = true;
    try {
      const { redis, keys, processId, config } = this.#platform;
      const ttlMs = Math.min(config.sweepEveryMs * 3, MAX_LOCK_MS);
      const lock = await holdLock(redis, keys.reconcilerLock(), processId, ttlMs);
      this.#lock = lock ?? undefined;
      if (this.#stopped.signal.aborted) await lock?.release();
      return this.#lock;
    } catch (error) {
      this.#logUnlessStopped({ err: error }, "the reconciler's lock can't be acquired");
      return undefined;
    } finally {
      this.#isAcquiring = false;
    }
  }

  async #turn(step: SweepStep, mustEnd: () => boolean, onRepaired: (count: number) => void): Promise<void> {
    const { metrics, config } = this.#platform;
    const budgetMs = Math.min(config.sweepEveryMs * BUDGET_SHARE, MAX_BUDGET_MS);
    try {
      await runTurn(this.#platform, step, {
        budgetMs,
        mustEnd,
        onRepaired: count => {
          onRepaired(count);
          if (count > 0) metrics.count("reconciled_total", { step: step.name }, count);
        },
      });
      await removeSetAside(this.#platform, step.name, [WHOLE_STEP]);
    } catch (error) {
      await this.#report(step, error);
    }
  }

  async #report(step: SweepStep, error: unknown): Promise<void> {
    const isAway = error instanceof AppError && error.code === "unavailable";
    try {
      if (!isAway) await setAside(this.#platform, step.name, WHOLE_STEP, error);
      else this.#logUnlessStopped({ step: step.name, err: error }, "reconciling waits for a store");
    } catch (failure) {
      this.#logUnlessStopped({ step: step.name, err: failure }, "reconciling failed");
    }
  }

  #logUnlessStopped(fields: Record<string, unknown>, message: string): void {
    if (!this.#stopped.signal.aborted) this.#platform.log.warn(fields, message);
  }
}

/** Starts to reconcile in this process; returns the function that stops it. */
export function startReconciling(platform: Platform): () => Promise<void> {
  const reconciler = new Reconciler(platform);
  reconciler.start();
  return () => reconciler.stop();
}

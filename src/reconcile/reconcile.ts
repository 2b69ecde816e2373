import { AppError } from "../lib/errors.ts";
import type { HeldLock } from "../lib/held-lock.ts";
import { settlesWithin } from "../lib/time.ts";
import type { Platform } from "../platform.ts";
import { readSetAside, removeSetAside, setAside } from "../store/sweeps/set-aside.ts";
import { claimUnits, type SweepStep, type SweepUnit, unitsOf } from "../store/sweeps/sweep-turns.ts";
import { sweepSteps } from "./steps.ts";
import { runTurn } from "./turn.ts";

/** A unit that has more to do pauses after this share of `SWEEP_EVERY`, so that it never uses a worker for itself. */
const BUDGET_SHARE = 2 / 3;
const MAX_BUDGET_MS = 20_000;
/** What a killed process was at is free for the others after this. Milliseconds. */
const MAX_CLAIM_MS = 30_000;
/** How long turns may take to end when their process stops. */
const STOP_MS = 2000;
/** A process that is at work on so many units claims a further one only after a pause, in which others may. */
const AT_ONCE = 4;
/** That pause, as a share of `SWEEP_EVERY`. */
const PAUSE_SHARE = 1 / 10;
/** A unit is due again a little before the process of its last turn looks again. */
const DUE_SHARE = 0.95;
/** It rests for this share of the time that its turn took, if it was claimed late in its round. */
const REST_SHARE = 0.4;
/** Under this item a step is set aside that fails outside of its items. */
const WHOLE_STEP = "(whole step)";

/** What a round's turns have in common. */
interface Round {
  /** By `performance.now()`. */
  startedAt: number;
  /** What its turns repaired, by step. */
  repaired: Record<string, number>;
}

/**
 * Repairs what must agree between MongoDB, Redis and the queues: work that was stored and never enqueued because of a
 * crash in between, timers that do not tick, sources between two states (docs/design.md#guarantee-2). The work is divided
 * into units, steps and parts of steps. Each has a turn every `SWEEP_EVERY`, in whichever process claims it, side by side with
 * the others, so that neither a long backlog nor a failure of one delays another; a turn that uses up its time continues in
 * the next (docs/decisions/0020-sweeps.md).
 */
export class Reconciler {
  readonly #platform: Platform;
  readonly #steps: SweepStep[];
  readonly #stopped = new AbortController();
  /** Turns under way, by the name of their unit. */
  readonly #turns = new Map<string, { ended: Promise<void>; lock: HeldLock }>();
  /** The claims of the present round. */
  #claims: Promise<Promise<void>[]> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #endPause = () => {};

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
    this.#endPause();
    if (this.#claims) await settlesWithin(Promise.allSettled([this.#claims]), STOP_MS);
    // If a store is away a turn may wait for it; interrupted anywhere, the next one repeats its batch.
    await settlesWithin(Promise.allSettled([...this.#turns.values()].map(({ ended }) => ended)), STOP_MS);
    const left = [...this.#turns.values()].map(({ lock }) => lock.release());
    await settlesWithin(Promise.all(left), STOP_MS);
  }

  /**
   * Starts a turn of each unit that is due, as far as no other process does. Resolves with what they repaired, by step, when
   * all have ended.
   */
  async round(): Promise<Record<string, number>> {
    const round: Round = { startedAt: performance.now(), repaired: {} };
    // While Redis is away a claim waits for it: rounds that come due in between must not pile up.
    if (this.#claims || this.#stopped.signal.aborted) return round.repaired;
    try {
      this.#claims = this.#startTurns(round);
      const turns = await this.#claims.finally(() => {
        this.#claims = undefined;
      });
      await Promise.all(turns);
    } catch (error) {
      this.#logUnlessStopped({ err: error }, "the reconciler can't claim its work");
    }
    const found = Object.entries(round.repaired).filter(([, count]) => count > 0);
    if (found.length > 0) this.#platform.log.warn(Object.fromEntries(found), "reconciled");
    return round.repaired;
  }

  /** Claims what is due, little by little, and starts the turns of that. */
  async #startTurns(round: Round): Promise<Promise<void>[]> {
    const { redis, keys, config } = this.#platform;
    const turns: Promise<void>[] = [];
    // A process of a release that did not share the work does all of it.
    if ((await redis.exists(keys.reconcilerLock())) === 1) return turns;
    const pauseMs = config.sweepEveryMs * PAUSE_SHARE;
    let more = 0;
    do {
      const started = await this.#claim(round);
      turns.push(...started.turns);
      more = started.more;
      if (more > 0) await this.#pause(Promise.all(started.turns), pauseMs);
      // What is due by then is claimed when this process looks again.
    } while (
      more > 0 &&
      !this.#stopped.signal.aborted &&
      performance.now() - round.startedAt + pauseMs < config.sweepEveryMs
    );
    return turns;
  }

  async #claim(round: Round): Promise<{ turns: Promise<void>[]; more: number }> {
    const { sweepEveryMs } = this.#platform.config;
    const claimedAt = performance.now();
    const units = new Map(unitsOf(this.#steps).map(unit => [unit.name, unit]));
    const { locks, more } = await claimUnits(
      this.#platform,
      [...units.keys()].filter(name => !this.#turns.has(name)),
      {
        most: Math.max(1, AT_ONCE - this.#turns.size),
        ttlMs: Math.min(sweepEveryMs * 3, MAX_CLAIM_MS),
        everyMs: sweepEveryMs,
        dueInMs: () => {
          // What is interrupted is for another process at once.
          if (this.#stopped.signal.aborted) return 0;
          const now = performance.now();
          const untilDueMs = sweepEveryMs * DUE_SHARE - (now - round.startedAt);
          return Math.max(untilDueMs, (now - claimedAt) * REST_SHARE);
        },
      },
    );
    const turns = [...locks].flatMap(([name, lock]) => {
      const unit = units.get(name);
      return unit ? [this.#start(unit, lock, round)] : [];
    });
    return { turns, more };
  }

  /** Waits for these turns, but no longer than `ms`, nor once this process stops. */
  async #pause(turns: Promise<unknown>, ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<unknown>(resolve => {
      timer = setTimeout(resolve, ms, undefined);
      this.#endPause = () => resolve(undefined);
      void turns.then(resolve);
    });
    clearTimeout(timer);
  }

  #start(unit: SweepUnit, lock: HeldLock, { repaired }: Round): Promise<void> {
    const step = unit.step.name;
    const mustEnd = () => this.#stopped.signal.aborted || lock.lost.aborted;
    const onRepaired = (count: number) => {
      repaired[step] = (repaired[step] ?? 0) + count;
      if (count > 0) this.#platform.metrics.count("reconciled_total", { step }, count);
    };
    const ended = this.#turn(unit, mustEnd, onRepaired).finally(async () => {
      await lock.release();
      this.#turns.delete(unit.name);
    });
    this.#turns.set(unit.name, { ended, lock });
    return ended;
  }

  async #turn(unit: SweepUnit, mustEnd: () => boolean, onRepaired: (count: number) => void): Promise<void> {
    const { name } = unit.step;
    const budgetMs = Math.min(this.#platform.config.sweepEveryMs * BUDGET_SHARE, MAX_BUDGET_MS);
    try {
      await runTurn(this.#platform, unit, { budgetMs, mustEnd, onRepaired });
      const aside = await readSetAside(this.#platform, name, [itemOf(unit)]);
      await removeSetAside(this.#platform, name, [...aside.keys()]);
    } catch (error) {
      await this.#report(unit, error);
    }
  }

  async #report(unit: SweepUnit, error: unknown): Promise<void> {
    const isAway = error instanceof AppError && error.code === "unavailable";
    try {
      if (!isAway) await setAside(this.#platform, unit.step.name, itemOf(unit), error);
      else this.#logUnlessStopped({ step: unit.name, err: error }, "reconciling waits for a store");
    } catch (failure) {
      this.#logUnlessStopped({ step: unit.name, err: failure }, "reconciling failed");
    }
  }

  #logUnlessStopped(fields: Record<string, unknown>, message: string): void {
    if (!this.#stopped.signal.aborted) this.#platform.log.warn(fields, message);
  }
}

const itemOf = ({ part }: SweepUnit): string =>
  part.of === 1 ? WHOLE_STEP : `(part ${part.index + 1} of ${part.of})`;

/** Starts to reconcile in this process; returns the function that stops it. */
export function startReconciling(platform: Platform): () => Promise<void> {
  const reconciler = new Reconciler(platform);
  reconciler.start();
  return () => reconciler.stop();
}

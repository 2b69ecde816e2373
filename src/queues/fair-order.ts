import type { StoredJobs } from "./stored-jobs.ts";

/**
 * The order in which a queue serves accounts: in turn, whatever the backlog of one of them
 * (docs/decisions/0015-fair-order-between-accounts.md). In each turn an account's jobs cost up to the queue's quantum. Jobs
 * of the present turn wait in BullMQ's plain list, which goes first; those of a later one are prioritized by it.
 */
export class FairOrder {
  readonly #jobs: StoredJobs;
  readonly #quantum: number;
  /** What each account has added since the queue was seen without a backlog, which holds until `#quietUntil`. */
  readonly #added = new Map<string, number>();
  #quietUntil = 0;
  /** Positions that this process has counted in advance. */
  readonly #leases = new Map<string, Lease>();

  /** `quantum`: the cost of an account's jobs in one turn. */
  constructor(jobs: StoredJobs, quantum: number) {
    this.#jobs = jobs;
    this.#quantum = quantum;
  }

  /**
   * Counts jobs of accounts and returns BullMQ's priority for each, in order; 0 for one that is due in the present turn. Asks
   * Redis once for all of them, and not at all while the queue has no backlog. `isFetched`: the jobs were waiting, and come
   * from a producer that doesn't ask for their turn. Throws as the client does.
   */
  async prioritiesOf(jobs: Charge[], { isFetched = false } = {}): Promise<number[]> {
    const costs = new Map<string, number>();
    for (const { account, cost } of jobs) costs.set(account, (costs.get(account) ?? 0) + cost);
    const nowMs = performance.now();
    if (this.#isQuiet(costs, nowMs)) return jobs.map(() => 0);
    const missing = [...costs].filter(([account, cost]) => !this.#isLeased(account, cost, nowMs));
    if (missing.length > 0) await this.#ask(missing, nowMs, isFetched);
    return jobs.map(({ account, cost }) => this.#advance(account, cost));
  }

  /** True if the queue had no backlog a moment ago, and none of these accounts has added much since. */
  #isQuiet(costs: Map<string, number>, nowMs: number): boolean {
    if (nowMs >= this.#quietUntil) return false;
    for (const [account, cost] of costs) {
      if ((this.#added.get(account) ?? 0) + cost > this.#quantum) return false;
    }
    for (const [account, cost] of costs) this.#added.set(account, (this.#added.get(account) ?? 0) + cost);
    return true;
  }

  #isLeased(account: string, cost: number, nowMs: number): boolean {
    const lease = this.#leases.get(account);
    return lease !== undefined && nowMs - lease.atMs < LEASE_MS && lease.position + cost <= lease.end;
  }

  async #ask(costs: [account: string, cost: number][], nowMs: number, isFetched: boolean): Promise<void> {
    const wanted = costs.map(([account, cost]) => ({ account, cost, ahead: this.#ahead(account, nowMs) }));
    const { waits, turn, positions } = await this.#jobs.countTurns(
      wanted.map(({ account, cost, ahead }) => [account, cost + ahead] as const),
      { quantum: this.#quantum, keptS: FORGOTTEN_SECONDS, isFetched },
    );
    if (!waits) {
      this.#quietUntil = nowMs + QUIET_MS;
      this.#added.clear();
      for (const [account, cost] of costs) this.#added.set(account, cost);
    }
    if (this.#leases.size > MAX_LEASES) this.#leases.clear();
    for (const [i, { account, cost, ahead }] of wanted.entries()) {
      const position = positions[i] ?? 0;
      this.#leases.set(account, { turn, position, end: position + cost + ahead, ahead, atMs: nowMs });
    }
  }

  /** An account that asks again at once is about to add much: then more is counted at a time, each time twice as much. */
  #ahead(account: string, nowMs: number): number {
    const last = this.#leases.get(account);
    if (!last || nowMs - last.atMs >= LEASE_MS) return 0;
    return Math.min(Math.max(1, last.ahead * 2), LEASED_QUANTA * this.#quantum);
  }

  #advance(account: string, cost: number): number {
    const lease = this.#leases.get(account);
    if (!lease) return 0;
    const turn = Math.floor(lease.position / this.#quantum);
    lease.position += cost;
    return turn <= lease.turn ? 0 : Math.min(turn + 1, MAX_PRIORITY);
  }
}

/** The account of a job, and what the job costs it. */
export interface Charge {
  account: string;
  cost: number;
}

/** Positions from `position` up to `end`, counted when the queue served `turn`. */
interface Lease {
  turn: number;
  position: number;
  end: number;
  ahead: number;
  atMs: number;
}

/** The priority of a job that is delayed: what its turn is shows when it is due, and until then it passes no plain job. */
export const PRIORITY_WHEN_DUE = 1;
/** The priority of the first turn after the present one, on a queue that had no backlog before. */
export const FIRST_LATER_PRIORITY = 2;
/** BullMQ's highest. */
const MAX_PRIORITY = 2 ** 21 - 1;
/** How long it is believed that a queue has no backlog. */
const QUIET_MS = 200;
/** How long positions are used that were counted in advance, and at most how many turns' worth of them. */
const LEASE_MS = 100;
const LEASED_QUANTA = 4;
const MAX_LEASES = 10_000;
/** Positions mean nothing once a queue was empty; this only bounds what an idle installation keeps. */
const FORGOTTEN_SECONDS = 86_400;

import { LRUCache } from "lru-cache";
import { FairTurns } from "../../fairness/turns.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import type { Webhook } from "../../models/webhook.ts";

/** What is bounded: each attempt is a socket, and one that hangs is one until the time limit. */
export interface InFlightBounds {
  /** Attempts that the process has in flight. */
  process: number;
  /** Attempts of one account. */
  account: number;
  /** Attempts of one account at one origin, so that its webhooks do not flood a host, of its own or a stranger's. */
  origin: number;
}

/** How long an attempt waits for its place; one that would wait longer becomes a pending delivery, or stays one. */
const PATIENCE_MS = 1000;
/** An origin where a place became free so recently is quick: its attempts wait on, since they move on, but not for ever. */
const QUICK_MS = 250;
const QUICK_PATIENCE_MS = 15_000;

const BOUNDS: InFlightBounds = {
  process: LIMITS.attemptsInFlight.value,
  account: LIMITS.attemptsInFlightOfAccount.value,
  origin: LIMITS.attemptsInFlightAtOrigin.value,
};

interface Waiting {
  resolve: (leave: (() => void) | null) => void;
  since: number;
  timer: NodeJS.Timeout | undefined;
}

/** Attempts of one account at one origin. */
interface Group {
  account: string;
  inFlight: number;
  waiting: Set<Waiting>;
  /** When an attempt last ended. */
  freedAt: number;
}

/**
 * The attempts that one process has in flight, in the slots of its worker and outside of them. An attempt waits here and not
 * for a connection, so that waiting counts neither as the endpoint's time nor as its failure.
 */
export class InFlight {
  readonly #metrics: Pick<Metrics, "count">;
  readonly #bounds: InFlightBounds;
  readonly #groups = new Map<string, Group>();
  readonly #turns = new FairTurns();
  readonly #ofAccount = new Map<string, number>();
  #total = 0;

  constructor(metrics: Pick<Metrics, "count">, bounds: InFlightBounds = BOUNDS) {
    this.#metrics = metrics;
    this.#bounds = bounds;
  }

  get total(): number {
    return this.#total;
  }

  /** Resolves with a function that ends the attempt's place; with null if there will be none soon, which is counted. */
  async enter(webhook: Pick<Webhook, "owner_id" | "url">): Promise<(() => void) | null> {
    const { owner_id: account, url } = webhook;
    const turn = this.#turns.next(account);
    if (turn) await turn;
    const key = `${account} ${originOf(url)}`;
    const group = this.#groups.get(key) ?? { account, inFlight: 0, waiting: new Set(), freedAt: 0 };
    this.#groups.set(key, group);
    const full = this.#whatIsFull(group);
    if (!full) return this.#start(key, group);
    // A full account or process stays so until endpoints respond that hang; an origin may only be busy for a moment.
    if (full !== "origin") return this.#reject(full);
    return new Promise(resolve => {
      const waiting: Waiting = { resolve, since: performance.now(), timer: undefined };
      group.waiting.add(waiting);
      this.#watch(group, waiting);
    });
  }

  #watch(group: Group, waiting: Waiting): void {
    waiting.timer = setTimeout(() => {
      const now = performance.now();
      if (now - group.freedAt < QUICK_MS && now - waiting.since < QUICK_PATIENCE_MS) {
        this.#watch(group, waiting);
        return;
      }
      group.waiting.delete(waiting);
      waiting.resolve(this.#reject("origin"));
    }, PATIENCE_MS);
  }

  #whatIsFull({ account, inFlight }: Group): keyof InFlightBounds | null {
    if (this.#total >= this.#bounds.process) return "process";
    if ((this.#ofAccount.get(account) ?? 0) >= this.#bounds.account) return "account";
    return inFlight >= this.#bounds.origin ? "origin" : null;
  }

  #reject(reason: keyof InFlightBounds): null {
    this.#metrics.count("attempts_put_off_total", { reason });
    return null;
  }

  #start(key: string, group: Group): () => void {
    this.#add(group, 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#add(group, -1);
      group.freedAt = performance.now();
      const [next] = group.waiting;
      if (next && !this.#whatIsFull(group)) {
        group.waiting.delete(next);
        clearTimeout(next.timer);
        next.resolve(this.#start(key, group));
      } else if (group.inFlight === 0 && group.waiting.size === 0) this.#groups.delete(key);
    };
  }

  #add(group: Group, by: 1 | -1): void {
    group.inFlight += by;
    this.#total += by;
    const ofAccount = (this.#ofAccount.get(group.account) ?? 0) + by;
    if (ofAccount > 0) this.#ofAccount.set(group.account, ofAccount);
    else this.#ofAccount.delete(group.account);
  }
}

const origins = new LRUCache<string, string>({
  max: 1000,
  // A URL that can't be parsed fails when it is requested.
  memoMethod: url => {
    if (!URL.canParse(url)) return url;
    const { origin, protocol, host } = new URL(url);
    // Only the protocols that browsers know have an origin.
    return origin === "null" ? `${protocol}//${host || url}` : origin;
  },
});
const originOf = (url: string): string => origins.memo(url);

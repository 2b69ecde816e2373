import { LRUCache } from "lru-cache";
import { AT_ORIGIN } from "../../fairness/constants.ts";
import { Slots, type Waiter } from "../../fairness/slots.ts";
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
  /** Attempts of all accounts at the callbacks of agents on one host. */
  callbackHost: number;
}

const BOUNDS: InFlightBounds = {
  process: LIMITS.attemptsInFlight.value,
  account: LIMITS.attemptsInFlightOfAccount.value,
  origin: LIMITS.attemptsInFlightAtOrigin.value,
  callbackHost: LIMITS.attemptsInFlightAtCallbackHost.value,
};

/** What is to be sent a request. */
type Entering = Pick<Webhook, "owner_id" | "url" | "mcp">;

/** An attempt that waits for a place at its origin. */
interface Waiting extends Waiter {
  since: number;
  timer: NodeJS.Timeout | undefined;
  giveUp(): void;
}

/**
 * The attempts that one process has in flight, in the slots of its worker and outside of them. An attempt waits here and not
 * for a connection, so that waiting counts neither as the endpoint's time nor as its failure.
 */
export class InFlight {
  readonly #metrics: Pick<Metrics, "count">;
  readonly #turns = new FairTurns();
  /** Places of accounts in the process. */
  readonly #places: Slots;
  /** Places of an account at an origin: each pair of the two holds them as an account of its own. */
  readonly #atOrigins: Slots<Waiting>;
  /** Places at the hosts of agents' callbacks, each of which holds them as an account of its own. */
  readonly #atCallbackHosts: Slots;
  /** When an attempt at an origin last ended. */
  readonly #freedAt = new LRUCache<string, number>({ max: 10_000 });

  constructor(metrics: Pick<Metrics, "count">, bounds: InFlightBounds = BOUNDS) {
    this.#metrics = metrics;
    this.#places = new Slots({ total: bounds.process, perAccount: bounds.account });
    this.#atOrigins = new Slots({ perAccount: bounds.origin });
    this.#atCallbackHosts = new Slots({ perAccount: bounds.callbackHost });
  }

  get total(): number {
    return this.#places.held;
  }

  /** Resolves with a function that ends the attempt's place; with null if there will be none soon, which is counted. */
  async enter(listener: Entering): Promise<(() => void) | null> {
    const { owner_id: account, url } = listener;
    const turn = this.#turns.next(account);
    if (turn) await turn;
    // A full account or process stays so until endpoints respond that hang; an origin may only be busy for a moment.
    const full = this.#places.whatIsFull(account);
    if (full) return this.#reject(full === "all" ? "process" : "account");
    const origin = `${account} ${originOf(url)}`;
    const host = callbackHostOf(listener);
    return new Promise(resolve => {
      const waiting: Waiting = {
        account: origin,
        since: performance.now(),
        timer: undefined,
        mayStart: () =>
          this.#places.whatIsFull(account) === null &&
          (host === null || this.#atCallbackHosts.whatIsFull(host) === null),
        start: () => {
          clearTimeout(waiting.timer);
          this.#places.hold(account);
          if (host !== null) this.#atCallbackHosts.hold(host);
          resolve(this.#leaving(account, origin, host));
        },
        giveUp: () => resolve(this.#reject("origin")),
      };
      if (this.#atOrigins.tryStart(waiting)) return;
      this.#atOrigins.wait(waiting);
      this.#watch(waiting);
    });
  }

  #leaving(account: string, origin: string, host: string | null): () => void {
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#freedAt.set(origin, performance.now());
      this.#places.release(account);
      if (host !== null) this.#atCallbackHosts.release(host);
      // Last: those that wait for any of the three are started by it.
      this.#atOrigins.release(origin);
    };
  }

  #watch(waiting: Waiting): void {
    waiting.timer = setTimeout(() => {
      const now = performance.now();
      const isQuick = now - (this.#freedAt.get(waiting.account) ?? 0) < AT_ORIGIN.quickMs;
      if (isQuick && now - waiting.since < AT_ORIGIN.quickPatienceMs) this.#watch(waiting);
      else if (this.#atOrigins.leave(waiting)) waiting.giveUp();
    }, AT_ORIGIN.patienceMs);
  }

  #reject(reason: keyof InFlightBounds): null {
    this.#metrics.count("attempts_put_off_total", { reason });
    return null;
  }
}

/** Null for what is not an agent's: a webhook's address is one that a person chose, an agent's may be any that it was talked into. */
function callbackHostOf({ mcp, url }: Entering): string | null {
  return mcp === undefined ? null : new URL(url).hostname;
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

import type { KeyObject } from "node:crypto";
import { LRUCache } from "lru-cache";
import { Slots } from "../fairness/slots.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Outbound, Stores } from "../platform.ts";
import type { SoughtKey } from "../verify/sought-key.ts";

type Deps = Pick<Stores, "clock" | "log"> & Pick<Outbound, "egress">;

/** How long keys are used without asking whether there are others: a key that its sender took back is accepted for no longer. */
const FRESH_MS = 10 * 60_000;
/** An address is asked this often at most, whatever requests say they are signed with, and also while it does not respond. */
const ASK_MS = 30_000;
const MAX_ADDRESSES = 500;
/** Requests of all accounts at once. */
const MAX_REQUESTS = 20;

/** What is known of an address of keys. */
interface Known {
  keys: ReadonlyMap<string, KeyObject>;
  readAtMs: number;
  askedAtMs: number;
  /** The request under way, for which all wait who need it. */
  asking?: Promise<void> | undefined;
}

/**
 * What this process asks of those who send to endpoints: their public keys, which are kept, and to confirm a subscription. Where no
 * rule needs them, nothing is asked. Every request passes the egress guard.
 */
export class Senders {
  readonly #deps: Deps;
  readonly #known = new LRUCache<string, Known>({ max: MAX_ADDRESSES });
  readonly #confirming = new Map<string, Promise<boolean>>();
  readonly #requests = new Slots({ perAccount: LIMITS.senderRequests.value, total: MAX_REQUESTS });

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Returns a key; null if its sender publishes none of this name, or can't be asked. A request waits only for a key that is not known:
   * known ones are renewed beside it. Never throws.
   */
  async key(account: string, sought: SoughtKey): Promise<KeyObject | null> {
    const known = this.#of(sought.url);
    const key = this.#usable(known, sought);
    if (key && this.#deps.clock() - known.readAtMs < FRESH_MS) return key;
    const asking = this.#ask(account, sought, known);
    if (key) return key;
    await asking;
    return this.#usable(known, sought);
  }

  #of(url: string): Known {
    const known = this.#known.get(url) ?? {
      keys: new Map(),
      readAtMs: Number.NEGATIVE_INFINITY,
      askedAtMs: Number.NEGATIVE_INFINITY,
    };
    this.#known.set(url, known);
    return known;
  }

  #usable({ keys, readAtMs }: Known, { name }: SoughtKey): KeyObject | null {
    const isKept = this.#deps.clock() - readAtMs < LIMITS.senderKeysKeptMs.value;
    return (isKept && keys.get(name)) || null;
  }

  #ask(account: string, sought: SoughtKey, known: Known): Promise<void> | undefined {
    const now = this.#deps.clock();
    if (known.asking || now - known.askedAtMs < ASK_MS) return known.asking;
    if (this.#requests.whatIsFull(account) !== null) return undefined;
    known.askedAtMs = now;
    known.asking = this.#read(account, sought, known, now).finally(() => {
      known.asking = undefined;
    });
    return known.asking;
  }

  async #read(account: string, { url, read }: SoughtKey, known: Known, nowMs: number): Promise<void> {
    const text = await this.#get(account, url);
    if (text === null) return;
    try {
      known.keys = read(text);
      known.readAtMs = nowMs;
    } catch (err) {
      this.#deps.log.warn({ host: new URL(url).host, err }, "the response has no keys of a sender");
    }
  }

  /** Requests the address that confirms a subscription; returns whether it was confirmed. Never throws. */
  confirm(account: string, url: string): Promise<boolean> {
    const known = this.#confirming.get(url);
    if (known) return known;
    if (this.#requests.whatIsFull(account) !== null) return Promise.resolve(false);
    const confirming = this.#get(account, url)
      .then(text => text !== null)
      .finally(() => this.#confirming.delete(url));
    this.#confirming.set(url, confirming);
    return confirming;
  }

  /** Returns the body of a response; null if there was none that is a success. */
  async #get(account: string, url: string): Promise<string | null> {
    const { egress, log } = this.#deps;
    const { host } = new URL(url);
    this.#requests.hold(account);
    try {
      const { status, body, truncated } = await egress.request(url, {
        method: "GET",
        headers: { accept: "*/*" },
        timeoutMs: LIMITS.senderRequestMs.value,
        maxResponseBytes: LIMITS.senderKeyBytes.value,
      });
      if (status === 200 && !truncated) return body.toString();
      log.warn({ host, status, truncated }, "a sender did not respond with what was asked of it");
    } catch (err) {
      log.warn({ host, err }, "a sender can't be asked");
    } finally {
      this.#requests.release(account);
    }
    return null;
  }
}

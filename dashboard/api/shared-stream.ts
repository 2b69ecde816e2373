import type { LiveMessage } from "./client";

/** What is to be streamed of an account. */
export interface StreamWish {
  emitters: string[];
  deliveries: boolean;
  runs: boolean;
  /** An organization, or null for the user's own account. */
  org: string | null;
}

/** What a stream tells its tabs. */
export type StreamNews =
  | { type: "message"; message: LiveMessage }
  | { type: "state"; state: "connecting" | "live" }
  | { type: "ended"; reason: string };

type Tell = (news: StreamNews) => void;
type Follow = (wish: StreamWish, signal: AbortSignal, tell: Tell) => Promise<"again" | "ended">;

/** What tabs say to each other. */
type Said =
  | { kind: "wish"; tab: string; org: string | null; wish: StreamWish | null }
  | { kind: "ask"; org: string | null }
  | { kind: "news"; org: string | null; news: StreamNews; to?: string };

/** What a tab that joins a stream gets, on which it reads its lists. */
const READY: StreamNews = { type: "message", message: { type: "ready", resumed: false } };
const RETRY_MS = 3000;
/** A tab that crashed takes nothing back: what it wished is dropped once it has not said so for a while. */
const REPEAT_MS = 30_000;
const FORGET_MS = 75_000;
const MOST_EMITTERS = 20;

/**
 * One stream for all visible tabs of an account: a browser opens six connections to a host, and a user has a bounded number of
 * streams. The tab that holds the lock streams what all of them wish, and tells the others. Browsers have locks on
 * https:// and localhost only; elsewhere each tab has a stream of its own.
 */
export class SharedStream {
  readonly #tab = Math.random().toString(36).slice(2);
  /** Undefined outside of a secure context, whatever its type says. */
  readonly #locks = navigator.locks as LockManager | undefined;
  readonly #channel = this.#locks && new BroadcastChannel("headwater-live");
  readonly #follow: Follow;
  readonly #take: Tell;
  #wish: StreamWish | null = null;
  readonly #others = new Map<string, { wish: StreamWish; at: number }>();
  /** Aborted when this tab neither streams nor waits for its turn any more; null if it does not. */
  #turn: AbortController | null = null;
  #isLeader = false;
  #stream: AbortController | null = null;
  /** What is streamed, as a text that can be compared. */
  #streamed = "";
  #isLive = false;
  #retry: ReturnType<typeof setTimeout> | undefined;

  /**
   * `follow` streams what is wished until the signal aborts, and returns whether to try it again; `take` gets what any tab's
   * stream tells of the wished account.
   */
  constructor(follow: Follow, take: Tell) {
    this.#follow = follow;
    this.#take = take;
    this.#channel?.addEventListener("message", ({ data }: MessageEvent<Said>) => this.#hear(data));
    addEventListener("pagehide", () => this.setWish(null));
    setInterval(() => this.#repeat(), REPEAT_MS);
  }

  /** Changes what this tab wishes; null for nothing. */
  setWish(wish: StreamWish | null): void {
    const before = this.#wish;
    if (before && before.org !== wish?.org) this.#leave(before.org);
    this.#wish = wish;
    if (!wish) return;
    this.#say(this.#own(wish));
    if (!this.#turn) this.#line(wish.org);
    else if (this.#isLeader && !this.#restream() && this.#isLive) this.#take(READY);
  }

  #say(said: Said): void {
    this.#channel?.postMessage(said);
  }

  #leave(org: string | null): void {
    this.#turn?.abort();
    this.#turn = null;
    this.#isLeader = false;
    this.#others.clear();
    this.#end();
    this.#say({ kind: "wish", tab: this.#tab, org, wish: null });
  }

  /** Waits for the turn to stream for all. */
  #line(org: string | null): void {
    const turn = new AbortController();
    this.#turn = turn;
    const lead = () =>
      new Promise<void>(resolve => {
        turn.signal.addEventListener("abort", () => resolve());
        if (turn.signal.aborted) return resolve();
        this.#isLeader = true;
        this.#say({ kind: "ask", org });
        this.#restream();
      });
    const name = `headwater-live-${org ?? "me"}`;
    const led = this.#locks ? this.#locks.request(name, { signal: turn.signal }, lead) : lead();
    // Rejected if the turn is over before it came.
    led.catch(() => undefined);
  }

  #hear(said: Said): void {
    if (!this.#wish || said.org !== this.#wish.org) return;
    if (said.kind === "ask") this.#say(this.#own(this.#wish));
    else if (said.kind === "wish") this.#hearWish(said);
    else if (!this.#isLeader && (said.to === undefined || said.to === this.#tab)) this.#take(said.news);
  }

  #hearWish({ tab, org, wish }: Said & { kind: "wish" }): void {
    if (!this.#isLeader) return;
    const before = this.#others.get(tab)?.wish;
    if (wish) this.#others.set(tab, { wish, at: Date.now() });
    else this.#others.delete(tab);
    const isRepeated = JSON.stringify(before) === JSON.stringify(wish);
    if (this.#restream() || isRepeated || !wish || !this.#isLive) return;
    this.#say({ kind: "news", org, to: tab, news: READY });
  }

  #own(wish: StreamWish): Said {
    return { kind: "wish", tab: this.#tab, org: wish.org, wish };
  }

  #repeat(): void {
    if (this.#wish) this.#say(this.#own(this.#wish));
    const before = Date.now() - FORGET_MS;
    for (const [tab, { at }] of this.#others) if (at < before) this.#others.delete(tab);
  }

  /** Streams what all tabs wish, if that is something else than before; returns whether it is. */
  #restream(): boolean {
    if (!this.#wish) return false;
    const wishes = [this.#wish, ...[...this.#others.values()].map(({ wish }) => wish)];
    const { org } = this.#wish;
    const whole: StreamWish = {
      // The server takes no more; those of this tab come first.
      emitters: [...new Set(wishes.flatMap(one => one.emitters))].slice(0, MOST_EMITTERS).sort(),
      deliveries: wishes.some(one => one.deliveries),
      runs: wishes.some(one => one.runs),
      org,
    };
    const text = JSON.stringify(whole);
    if (text === this.#streamed) return false;
    this.#end();
    this.#streamed = text;
    const stream = new AbortController();
    this.#stream = stream;
    const tell: Tell = news => {
      if (stream.signal.aborted) return;
      this.#isLive = news.type !== "ended" && (news.type === "message" || news.state === "live");
      this.#take(news);
      this.#say({ kind: "news", org, news });
    };
    tell({ type: "state", state: "connecting" });
    void this.#follow(whole, stream.signal, tell).then(next => {
      if (stream.signal.aborted) return;
      this.#streamed = "";
      if (next === "again") this.#retry = setTimeout(() => this.#restream(), RETRY_MS);
    });
    return true;
  }

  #end(): void {
    clearTimeout(this.#retry);
    this.#stream?.abort();
    this.#stream = null;
    this.#streamed = "";
    this.#isLive = false;
  }
}

import type { Context } from "koa";
import { acceptRuns } from "../accepted/keep.ts";
import { queueBounds } from "../accounts/limits.ts";
import { LARGE_BODIES } from "../fairness/constants.ts";
import { Slots } from "../fairness/slots.ts";
import { Usage } from "../fairness/usage.ts";
import { readBytes } from "../http/body.ts";
import { beforeProxy, clientAddress } from "../http/client-address.ts";
import { withoutSessionCookie } from "../http/session-cookie.ts";
import { createBatcher } from "../lib/batcher.ts";
import { ingressBase } from "../lib/hosts.ts";
import { groupBy } from "../lib/lists.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Source } from "../models/source.ts";
import type { Queued, Stores } from "../platform.ts";
import type { TriggerItem } from "../queues/run-item.ts";
import { runQueueIsFull } from "../queues/runs.ts";
import type { SignedRequest } from "../verify/request-values.ts";
import { type HttpEvent, httpEvent, type RawRequest } from "./http-event.ts";
import type { RejectionNotes } from "./rejections.ts";
import { type IngressResponse, MAX_BODY_BYTES } from "./response.ts";
import type { Senders } from "./senders.ts";
import type { Admission, Admitted } from "./verification.ts";

/** Decides about a request by its raw bytes; at once, unless its sender must be asked for a key. */
export type Gate = (request: SignedRequest) => Admission | Promise<Admission>;

/** A request at an endpoint, and what it uses of this process. */
export interface Arrival {
  ctx: Context;
  /** What follows the endpoint. */
  path: string;
  enqueue: Enqueue;
  shares: IngressShares;
  notes: RejectionNotes;
  senders: Senders;
}

/**
 * Reads a request within the account's shares, and calls `accept` with its event, in the account's turn if its body is large. Its
 * body is not kept afterwards. A request that does not pass the `gate` has its response returned, before anything of it is parsed or
 * waits for a turn. Throws as `readBytes` and `httpEvent` do, `rate-limited`, `unavailable` and what
 * `accept` throws.
 */
export async function withEvent(
  platform: Stores,
  arrival: Arrival,
  account: string,
  accept: (event: HttpEvent, admitted: Admitted | null) => Promise<void>,
  gate: Gate | null = null,
): Promise<IngressResponse | null> {
  const { ctx, shares } = arrival;
  let held = 0;
  try {
    const body = await readBytes(ctx.req, {
      maxBytes: MAX_BODY_BYTES,
      keepsUnknown: true,
      count: bytes => {
        shares.bytes.hold(account, bytes);
        held += bytes;
      },
    });
    const raw = rawRequest(platform, arrival, body);
    const admission = (await gate?.(signedRequest(platform, ctx, body))) ?? null;
    if (admission?.outcome === "responded") return admission.response;
    await shares.handleBody(account, body.length, async () => accept(await httpEvent(raw), admission));
    return null;
  } finally {
    if (held > 0) shares.bytes.release(account, held);
  }
}

/** The sender's own: without what our proxy added, and without the cookies of our own sessions. */
function headersOf({ config }: Stores, { headers }: Context): RawRequest["headers"] {
  const own = config.trustProxy ? beforeProxy(headers) : headers;
  return own.cookie ? { ...own, cookie: withoutSessionCookie(own.cookie) } : own;
}

const rawRequest = (platform: Stores, { ctx, path }: Arrival, body: Buffer): RawRequest => ({
  method: ctx.method,
  path,
  // Not `ctx.URL`, which is empty if the Host header is invalid.
  search: new URLSearchParams(ctx.search),
  headers: headersOf(platform, ctx),
  body,
  url: urlOf(platform, ctx),
  clientIp: clientAddress(ctx),
});

/** As senders know it: not of what a request says of its host. */
const urlOf = (platform: Stores, { path, search }: Context): string =>
  `${ingressBase(platform)}${path}${search}`;

/** Returns a request with all headers as they arrived, whatever a proxy and the connection have to do with them. */
export const signedRequest = (platform: Stores, ctx: Context, body: Buffer): SignedRequest => ({
  method: ctx.method,
  url: urlOf(platform, ctx),
  headers: ctx.req.headersDistinct,
  body,
});

/** What requests for sources hold of this process at a time (docs/limits.md). */
export class IngressShares {
  /** Those whose body is being read, or that wait for the component's response. */
  readonly requests = new Slots({
    perAccount: LIMITS.requestsInProgress.value,
    what: "requests in progress at endpoints",
  });
  /** What has arrived of their bodies, until their runs wait. */
  readonly bytes = new Slots({
    perAccount: LIMITS.ingressBytesOfAccount.value,
    total: LIMITS.ingressBytes.value,
    what: "bytes of request bodies",
  });
  /**
   * The turns of large bodies. To parse and store one takes the thread that all requests share tens of milliseconds, so one
   * account has one such body in work at a time, and leaves most of the thread to others as long as there are any
   * (docs/decisions/0015-fair-order-between-accounts.md).
   */
  readonly #largeBodies = new Slots({
    total: LIMITS.largeBodies.value,
    perAccount: 1,
    waitingPerAccount: LIMITS.largeBodiesWaiting.value,
    waiting: LIMITS.largeBodiesWaitingInAll.value,
    restMs: workedMs =>
      this.#usage.isAlone ? 0 : Math.min(LARGE_BODIES.mostRestMs, workedMs * LARGE_BODIES.restFactor),
    what: "large bodies wait",
  });
  readonly #usage = new Usage();

  /** Notes that a request of an account has arrived, of any size. */
  note(account: string): void {
    this.#usage.note(account);
  }

  /**
   * Does `work` for a body of this size, in the account's turn if it is a large one. Throws `rate-limited` if too many
   * large bodies of the account wait, `unavailable` if too many of all accounts do, and what `work` throws.
   */
  handleBody<T>(account: string, bytes: number, work: () => Promise<T>): Promise<T> {
    return bytes > LIMITS.largeBodyBytes.value ? this.#largeBodies.run(account, work) : work();
  }
}

/** Requests that arrive at the same time share one query and one round trip to Redis; at most this many. */
export const BATCH_SIZE = 100;
/** Characters of a body that count as one request of a batch, so that large ones don't make a command of 100 MB. */
const CHARS_PER_UNIT = 16 * 1024;

interface Entry {
  source: Pick<Source, "_id" | "owner_id">;
  item: TriggerItem;
  /** Characters of the request's body. */
  chars: number;
}
type Enqueue = (entry: Entry) => Promise<void>;

/** Returns a function that accepts a run. Throws as `acceptRuns` does, and `rate-limited` if the run does not fit. */
export function createEnqueue(platform: Stores & Queued): Enqueue {
  const add = createBatcher(
    async (entries: Entry[]) => {
      const accepted = new Map<TriggerItem, boolean>();
      const bySource = groupBy(entries, entry => entry.source._id);
      await Promise.all(
        [...bySource].map(async ([sourceId, ofSource]) => {
          const items = ofSource.map(({ item }) => item);
          const bounds = await queueBounds(platform, ofSource[0]?.source.owner_id ?? "");
          for (const [i, ok] of (await acceptRuns(platform, sourceId, items, bounds)).entries()) {
            accepted.set(items[i] as TriggerItem, ok);
          }
        }),
      );
      return entries.map(({ item }) => accepted.get(item) ?? false);
    },
    // One batch at a time, so that runs keep the order in which their requests arrived.
    { maxWeight: BATCH_SIZE, weigh: entry => 1 + Math.floor(entry.chars / CHARS_PER_UNIT) },
  );
  return async entry => {
    if (!(await add(entry))) throw runQueueIsFull();
  };
}

import type { Context, Middleware } from "koa";
import { acceptRuns } from "../accepted/accept-runs.ts";
import { openQuotaGate } from "../accounts/check-quota.ts";
import { queueBounds } from "../accounts/limits.ts";
import { createKeyRateLimiter, type RateLimit, rateLimit } from "../http/rate-limit.ts";
import { requestState } from "../http/request-log.ts";
import { withoutSessionCookie } from "../http/session-cookie.ts";
import { createBatcher } from "../lib/batcher.ts";
import { AppError, notFound } from "../lib/errors.ts";
import { groupBy } from "../lib/group-by.ts";
import { isToken, newId } from "../lib/ids.ts";
import { requestTurns } from "../limits/request-turns.ts";
import type { Source } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { runQueueIsFull } from "../queues/enqueue-run.ts";
import type { Reply } from "../queues/replies.ts";
import type { TriggerItem } from "../queues/run-item.ts";
import { currentSourcesOf } from "../sources/current-source.ts";
import { endpointUrl, INGRESS_PREFIX, ingressBase } from "../sources/endpoint.ts";
import { inSpan } from "../tracing/in-span.ts";
import { inboundTrace } from "../tracing/inbound.ts";
import { type TraceContext, traceField } from "../tracing/trace-context.ts";
import { type HttpEvent, httpEvent, type RawRequest } from "./http-event.ts";
import { IngressShares } from "./ingress-shares.ts";
import { LargeBodies } from "./large-bodies.ts";
import { loadResponseMode, type ResponseMode } from "./load-response-mode.ts";
import { readBody } from "./read-body.ts";
import { accepted, CORS, fromComponent, type IngressResponse } from "./response.ts";
import { isIngressPath } from "./separate-hosts.ts";

type Deps = Pick<
  Platform,
  | "mongo"
  | "redis"
  | "keys"
  | "queues"
  | "routing"
  | "runQueue"
  | "replicas"
  | "replies"
  | "secrets"
  | "tracer"
  | "clock"
  | "config"
>;

/**
 * Returns the middleware that receives requests for sources at `/in/<endpoint>/…`. It converts a request to an event
 * and appends a run to the run queue of the source. It responds at once, or waits for the component if its code may
 * respond (docs/component-api.md#events-given-to-run).
 */
export function ingress(platform: Deps): Middleware {
  const limit = ingressLimit(platform);
  const findSource = createFindSource(platform);
  const enqueue = createEnqueue(platform);
  const checkQuota = openQuotaGate(platform);
  const largeBodies = new LargeBodies();
  const shares = new IngressShares();
  return async (ctx, next) => {
    if (!isIngressPath(ctx.path)) return next();
    const [, endpoint = "", rest = ""] = /^\/[^/]+\/([^/]*)(.*)$/s.exec(ctx.path) ?? [];
    ctx.state.route = `${INGRESS_PREFIX}/{endpoint}`;
    // A name of another shape belongs to no source: MongoDB isn't asked, and `""` would make it read every source.
    const source = isToken(endpoint) ? await findSource(endpoint) : null;
    if (!source) throw notFound("endpoint");
    await limit?.(ctx, source._id);
    checkQuota(source.owner_id);
    largeBodies.note(source.owner_id);
    ctx.set(CORS);
    if (ctx.method === "OPTIONS") {
      ctx.set("access-control-allow-headers", ctx.get("access-control-request-headers") || "*");
      ctx.status = 204;
      return;
    }
    await requestTurns.next(source.owner_id);
    const account = source.owner_id;
    shares.requests.hold(account, 1);
    try {
      await handle(platform, { ctx, source, path: rest || "/", enqueue, largeBodies, shares });
    } finally {
      shares.requests.release(account, 1);
    }
    if (typeof ctx.body === "string" || Buffer.isBuffer(ctx.body)) {
      requestTurns.chargeBytes(source.owner_id, ctx.body.length);
    }
  };
}

/** Requests that arrive at the same time share one query and one round trip to Redis; at most this many. */
const BATCH_SIZE = 100;
/** Characters of a body that count as one request of a batch, so that large ones don't make a command of 100 MB. */
const CHARS_PER_UNIT = 16 * 1024;

/**
 * Returns a function that finds the active source of an endpoint, or null. A deleted or disabled source receives no
 * further request. Throws `unavailable`.
 */
function createFindSource(platform: Deps): (endpoint: string) => Promise<Source | null> {
  return createBatcher(
    async (endpoints: string[]) => {
      const found = await currentSourcesOf(platform, endpoints);
      return endpoints.map(endpoint => found.get(endpoint) ?? null);
    },
    { maxWeight: BATCH_SIZE },
  );
}

interface Entry {
  source: Pick<Source, "_id" | "owner_id">;
  item: TriggerItem;
}
type Enqueue = (entry: Entry) => Promise<void>;

const sizeOf = (item: TriggerItem) => (item.event as HttpEvent).bodyRaw.length;

/** Returns a function that accepts a run. Throws as `acceptRuns` does, and `rate-limited` if the run does not fit. */
function createEnqueue(platform: Deps): Enqueue {
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
    { maxWeight: BATCH_SIZE, weigh: entry => 1 + Math.floor(sizeOf(entry.item) / CHARS_PER_UNIT) },
  );
  return async entry => {
    if (!(await add(entry))) throw runQueueIsFull();
  };
}

/** Returns the limit of each endpoint; null if the server has none, which is the default (docs/design.md#api). */
function ingressLimit({ redis, keys, config }: Deps): RateLimit | null {
  const perSecond = config.ingressPerSecond;
  if (perSecond === 0) return null;
  const options = {
    keyPrefix: `${keys.rateLimit()}-ingress`,
    points: perSecond,
    durationS: 1,
    burst: perSecond,
  };
  return rateLimit(createKeyRateLimiter(redis, options), "too many requests to this endpoint");
}

interface SourceRequest {
  ctx: Context;
  source: Source;
  path: string;
  enqueue: Enqueue;
  largeBodies: LargeBodies;
  shares: IngressShares;
}

async function handle(platform: Deps, request: SourceRequest): Promise<void> {
  const { ctx, source } = request;
  const { mode, runId, reply } = await accept(platform, request);
  if (mode === "never" || !reply) {
    send(ctx, accepted(runId));
    return;
  }
  respond(ctx, await reply, {
    isCustom: mode === "custom",
    runId,
    cookiePath: cookiePathOf(platform, source),
  });
}

interface Accepted {
  mode: ResponseMode;
  runId: string;
  /** Absent if the component can't respond. */
  reply: Promise<Reply | null> | undefined;
}

/** Accepts the request in a span of its own, which ends before its response is waited for. */
async function accept(platform: Deps, request: SourceRequest): Promise<Accepted> {
  const { ctx, source } = request;
  const inbound = inboundTrace(platform, ctx.headers);
  const runId = newId("run", platform.clock());
  const span = platform.tracer.enter("ingress", platform.clock(), { inbound });
  const attributes = {
    "headwater.trigger": "http",
    "headwater.source_id": source._id,
    "headwater.run_id": runId,
  };
  const trace = span?.context ?? inbound;
  return await inSpan(platform, span, attributes, () => enqueueRequest(platform, request, runId, trace));
}

/** Reads the request and enqueues its run; its body is not kept while the response is waited for. */
async function enqueueRequest(
  platform: Deps,
  request: SourceRequest,
  runId: string,
  trace: TraceContext | undefined,
): Promise<Accepted> {
  const { ctx, source, enqueue, largeBodies, shares } = request;
  let held = 0;
  try {
    const body = await readBody(ctx.req, bytes => {
      shares.bytes.hold(source.owner_id, bytes);
      held += bytes;
    });
    const mode = await loadResponseMode(platform, source);
    requestState(ctx).ids = { source_id: source._id, run_id: runId, ...traceField(trace) };
    const replies = mode === "never" ? undefined : await platform.replies();
    let reply: Promise<Reply | null> | undefined;
    await largeBodies.run(source.owner_id, body.length, async () => {
      const event = await httpEvent(rawRequest(platform, request, body));
      const item = {
        kind: "http" as const,
        run_id: runId,
        at_ms: platform.clock(),
        event,
        ...(trace && { trace }),
      };
      reply = replies?.first(runId, platform.config.httpResponseWaitMs);
      await enqueue({ source, item: { ...item, ...(replies && { reply_to: replies.address }) } });
    });
    return { mode, runId, reply };
  } finally {
    if (held > 0) shares.bytes.release(source.owner_id, held);
  }
}

const rawRequest = (platform: Deps, { ctx, path }: SourceRequest, body: Buffer): RawRequest => ({
  method: ctx.method,
  path,
  // Not `ctx.URL`, which is empty if the Host header is invalid.
  search: new URLSearchParams(ctx.search),
  headers: ctx.headers.cookie
    ? { ...ctx.headers, cookie: withoutSessionCookie(ctx.headers.cookie) }
    : ctx.headers,
  body,
  url: `${ingressBase(platform)}${ctx.path}${ctx.search}`,
  // The address that the proxy in front of this server saw. The sender may have written the ones before it.
  clientIp: ctx.ips.at(-1) ?? ctx.ip,
});

/** Returns the path that a source's cookies are confined to; undefined if its component can't set any. */
function cookiePathOf(platform: Deps, { endpoint }: Source): string | undefined {
  if (platform.config.ingressUrl === undefined) return undefined;
  return new URL(endpointUrl(platform, endpoint) ?? "").pathname;
}

function respond(
  ctx: Context,
  reply: Reply | null,
  { isCustom, runId, cookiePath }: { isCustom: boolean; runId: string; cookiePath: string | undefined },
): void {
  if (!reply) throw new AppError("timeout", "the component did not respond in time");
  if (reply.type === "response") {
    send(ctx, fromComponent(reply.response, { cookiePath }));
    return;
  }
  if (isCustom) {
    throw new AppError("invalid", "the component ended without a response", {
      fields: [{ in: "component", path: "respond", message: "was not called before the run ended" }],
    });
  }
  send(ctx, accepted(runId));
}

function send(ctx: Context, { status, headers, body }: IngressResponse): void {
  ctx.status = status;
  ctx.set(headers);
  ctx.body = body;
}

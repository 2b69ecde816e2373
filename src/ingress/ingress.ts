import type { Context, Middleware } from "koa";
import { openQuotaGate } from "../accounts/quota.ts";
import { requestTurns } from "../fairness/turns.ts";
import { type RateLimit, rateLimit } from "../http/rate-limit.ts";
import { requestState } from "../http/request-log.ts";
import { createBatcher } from "../lib/batcher.ts";
import { AppError, notFound } from "../lib/errors.ts";
import { hopsOfRequest } from "../lib/hops.ts";
import { INGRESS_PREFIX } from "../lib/hosts.ts";
import { isToken, newId } from "../lib/ids.ts";
import type { Source } from "../models/source.ts";
import type { Awaited, Outbound, Stores, Working } from "../platform.ts";
import type { Reply } from "../queues/replies.ts";
import { currentSourcesOf, endpointUrl, isBeingSetUp } from "../sources/source.ts";
import { hasArrived, noteArrived } from "../store/limits/arrived-ids.ts";
import { createKeyRateLimiter } from "../store/limits/key-rate.ts";
import { inSpan } from "../tracing/in-span.ts";
import { inboundTrace } from "../tracing/inbound.ts";
import { type TraceContext, traceField } from "../tracing/trace-context.ts";
import { acceptAppEvent, findAppEndpoint } from "./accept-app-event.ts";
import { type Arrival, BATCH_SIZE, createEnqueue, IngressShares, withEvent } from "./arrival.ts";
import { gateOf } from "./gate.ts";
import type { HttpEvent } from "./http-event.ts";
import { loadResponseMode, type ResponseMode } from "./load-response-mode.ts";
import { optionsResponse } from "./options.ts";
import { RejectionNotes } from "./rejections.ts";
import { accepted, CORS, fromComponent, type IngressResponse, repeated } from "./response.ts";
import { Senders } from "./senders.ts";
import { type Admitted, verificationOf, withSender } from "./verification.ts";

/**
 * Returns the middleware that receives requests for sources at `/in/<endpoint>/…`. It converts a request to an event
 * and appends a run to the run queue of the source. It responds at once, or waits for the component if its code may
 * respond (docs/component-api.md#events-given-to-run).
 */
export function ingress(platform: Working & Awaited & Outbound): Middleware {
  const limit = ingressLimit(platform);
  const findSource = createFindSource(platform);
  const enqueue = createEnqueue(platform);
  const checkQuota = openQuotaGate(platform);
  const shares = new IngressShares();
  const notes = new RejectionNotes(platform);
  const senders = new Senders(platform);
  return async (ctx, next) => {
    if (!isIngressPath(ctx.path)) return next();
    const [, endpoint = "", rest = ""] = /^\/[^/]+\/([^/]*)(.*)$/s.exec(ctx.path) ?? [];
    ctx.state.route = `${INGRESS_PREFIX}/{endpoint}`;
    // A name of another shape belongs to no source: MongoDB isn't asked, and `""` would make it read every source.
    const source = isToken(endpoint) ? await findSource(endpoint) : null;
    const connection = source ? null : await findAppEndpoint(platform, endpoint);
    const target = source ?? connection;
    if (!target) throw notFound("endpoint");
    const account = target.owner_id;
    await limit?.(ctx, target._id);
    checkQuota(account);
    shares.note(account);
    ctx.set(CORS);
    if (ctx.method === "OPTIONS") {
      const response = await optionsResponse(platform, ctx, { source, connection });
      if (response) return send(ctx, response);
      ctx.set("access-control-allow-headers", ctx.get("access-control-request-headers") || "*");
      ctx.status = 204;
      return;
    }
    await requestTurns.next(account);
    shares.requests.hold(account, 1);
    const arrival: Arrival = { ctx, path: rest || "/", enqueue, shares, notes, senders };
    try {
      if (source) await handle(platform, { ...arrival, source });
      else if (connection) send(ctx, await acceptAppEvent(platform, arrival, connection));
    } finally {
      shares.requests.release(account, 1);
    }
    if (typeof ctx.body === "string" || Buffer.isBuffer(ctx.body)) {
      requestTurns.chargeBytes(account, ctx.body.length);
    }
  };
}

/**
 * Returns a function that finds the active source of an endpoint, or null. A deleted or disabled source receives no
 * further request; one whose hooks are being called receives them, and runs on them once its change is committed. Throws `unavailable`.
 */
function createFindSource(platform: Working & Awaited): (endpoint: string) => Promise<Source | null> {
  return createBatcher(
    async (endpoints: string[]) => {
      const found = await currentSourcesOf(platform, endpoints);
      return endpoints.map(endpoint => found.get(endpoint) ?? null);
    },
    { maxWeight: BATCH_SIZE },
  );
}

/** Returns the limit of each endpoint; null if the server has none, which is the default (docs/design.md#api). */
function ingressLimit({ redis, keys, config }: Working & Awaited): RateLimit | null {
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

interface SourceRequest extends Arrival {
  source: Source;
}

async function handle(platform: Working & Awaited, request: SourceRequest): Promise<void> {
  const { ctx, source } = request;
  const outcome = await accept(platform, request);
  if ("response" in outcome) return send(ctx, outcome.response);
  const { mode, runId, reply } = outcome;
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

/** A request that is not accepted, and is responded to all the same: a challenge, a repeat, or one that is not verified. */
interface Responded {
  response: IngressResponse;
}

/** Accepts the request in a span of its own, which ends before its response is waited for. */
async function accept(platform: Working & Awaited, request: SourceRequest): Promise<Accepted | Responded> {
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

/** Reads the request, and enqueues its run if the source's verification, if any, admits it. */
async function enqueueRequest(
  platform: Working & Awaited,
  request: SourceRequest,
  runId: string,
  trace: TraceContext | undefined,
): Promise<Accepted | Responded> {
  const { ctx, source, enqueue } = request;
  const verification = verificationOf(platform, source);
  const isSettingUp = isBeingSetUp(source);
  const mode = isSettingUp ? "never" : await loadResponseMode(platform, source);
  requestState(ctx).ids = { source_id: source._id, run_id: runId, ...traceField(trace) };
  const replies = mode === "never" ? undefined : await platform.replies();
  let reply: Promise<Reply | null> | undefined;
  let isRepeat = false;
  const enqueueRun = async (received: HttpEvent, admitted: Admitted | null) => {
    const event = verification && admitted ? withSender(verification, received, admitted) : received;
    const id = verification?.dropsRepeats ? (event.verified?.id ?? null) : null;
    isRepeat = id !== null && (await hasArrived(platform, source._id, id));
    if (isRepeat) return;
    const item = {
      kind: "http" as const,
      run_id: runId,
      at_ms: platform.clock(),
      event,
      ...hopsOfRequest(ctx.headers),
      ...(trace && { trace }),
    };
    reply = replies?.first(runId, platform.config.httpResponseWaitMs);
    const replied = { ...item, ...(replies && { reply_to: replies.address }) };
    await enqueue({ source, item: replied, chars: event.bodyRaw.length });
    // Only now: the sender repeats what was not accepted.
    if (id !== null) await noteArrived(platform, source._id, id);
  };
  const gate =
    verification && gateOf(platform, request, { subject: source, verification, isBeingSetUp: isSettingUp });
  const response = await withEvent(platform, request, source.owner_id, enqueueRun, gate);
  if (!response && !isRepeat) return { mode, runId, reply };
  requestState(ctx).ids = { source_id: source._id };
  return { response: response ?? repeated() };
}

/** Returns the path that a source's cookies are confined to; undefined if its component can't set any. */
function cookiePathOf(platform: Working & Awaited, { endpoint }: Source): string | undefined {
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

/** Returns true for a path below which endpoints of sources are. */
const isIngressPath = (path: string): boolean =>
  path === INGRESS_PREFIX || path.startsWith(`${INGRESS_PREFIX}/`);

/**
 * With `INGRESS_URL` set, keeps its host and all other hosts apart (docs/design.md#browsers): `/in` exists on that host
 * only, and nothing else exists there. Both are 404 on the wrong host. Hosts are compared without their ports, because
 * browsers send the cookies of a host to all of its ports.
 */
export function separateHosts({ config }: Stores): Middleware {
  if (config.ingressUrl === undefined) return (_ctx, next) => next();
  const { hostname } = new URL(config.ingressUrl);
  return (ctx, next) => {
    const isIngressHost = ctx.hostname.toLowerCase() === hostname;
    if (isIngressHost !== isIngressPath(ctx.path)) throw notFound("path");
    return next();
  };
}

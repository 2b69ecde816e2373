import type { Context, Middleware } from "koa";
import getRawBody from "raw-body";
import { createKeyRateLimiter, type RateLimit, rateLimit } from "../http/rate-limit.ts";
import { createBatcher } from "../lib/batcher.ts";
import { AppError, notFound } from "../lib/errors.ts";
import { groupBy } from "../lib/group-by.ts";
import { newId } from "../lib/ids.ts";
import { type Source, Sources } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { enqueueRuns, runQueueIsFull } from "../queues/enqueue-run.ts";
import type { Reply } from "../queues/replies.ts";
import type { RunItem } from "../queues/run-item.ts";
import { loadCode } from "../runs/load-code.ts";
import { INGRESS_PREFIX } from "../sources/endpoint.ts";
import { httpEvent } from "./http-event.ts";
import { answered, CORS, type IngressResponse, MAX_BODY_BYTES, taken } from "./response.ts";

type IngressPlatform = Pick<
  Platform,
  "mongo" | "redis" | "keys" | "queues" | "runQueue" | "replies" | "clock" | "config"
>;

/** Takes requests for sources at `/in/<endpoint>/…`: makes the event, puts the run into the line, answers. */
export function ingress(platform: IngressPlatform): Middleware {
  const limit = ingressLimit(platform);
  const find = openLookup(platform);
  const enqueue = openEntry(platform);
  return async (ctx, next) => {
    if (ctx.path !== INGRESS_PREFIX && !ctx.path.startsWith(`${INGRESS_PREFIX}/`)) return next();
    const [, endpoint = "", rest = ""] = /^\/[^/]+\/([^/]*)(.*)$/s.exec(ctx.path) ?? [];
    ctx.state.route = `${INGRESS_PREFIX}/{endpoint}`;
    const source = await find(endpoint);
    if (!source) throw notFound("endpoint");
    await limit?.(ctx, source._id);
    ctx.set(CORS);
    if (ctx.method === "OPTIONS") {
      ctx.set("access-control-allow-headers", ctx.get("access-control-request-headers") || "*");
      ctx.status = 204;
      return;
    }
    await take(platform, { ctx, source, path: rest || "/", enqueue });
  };
}

/** Looked up, and enqueued, in one round trip for all requests that come at the same time. */
const TOGETHER = 100;

/** Never an response older than the request: what was deleted a moment ago is gone. */
function openLookup(platform: IngressPlatform): (endpoint: string) => Promise<Source | null> {
  return createBatcher(
    async (endpoints: string[]) => {
      const found = await Sources(platform.mongo)
        .find({ endpoint: { $in: [...new Set(endpoints)] }, active: true, state: "ready" })
        .lean<Source[]>();
      const byEndpoint = new Map(found.map(source => [source.endpoint, source]));
      return endpoints.map(endpoint => byEndpoint.get(endpoint) ?? null);
    },
    { maxWeight: TOGETHER },
  );
}

type Enqueue = (entry: { sourceId: string; item: RunItem }) => Promise<void>;

/** Throws as `enqueueRun` does. */
function openEntry(platform: IngressPlatform): Enqueue {
  const enter = createBatcher(
    async (entries: { sourceId: string; item: RunItem }[]) => {
      const accepted = new Map<RunItem, boolean>();
      const bySource = groupBy(entries, entry => entry.sourceId);
      await Promise.all(
        [...bySource].map(async ([sourceId, some]) => {
          const items = some.map(({ item }) => item);
          for (const [i, ok] of (await enqueueRuns(platform, sourceId, items)).entries()) {
            accepted.set(items[i] as RunItem, ok);
          }
        }),
      );
      return entries.map(({ item }) => accepted.get(item) ?? false);
    },
    // One at a time: requests keep the order in which they came.
    { maxWeight: TOGETHER },
  );
  return async entry => {
    if (!(await enter(entry))) throw runQueueIsFull();
  };
}

/** Unlimited unless the installation says otherwise (design.md, "REST decisions"). */
function ingressLimit({ redis, keys, config }: IngressPlatform): RateLimit | null {
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

interface Taking {
  ctx: Context;
  source: Source;
  path: string;
  enqueue: Enqueue;
}

async function take(platform: IngressPlatform, { ctx, source, path, enqueue }: Taking): Promise<void> {
  const event = await httpEvent({
    method: ctx.method,
    path,
    // Not from `ctx.URL`, which there is none of with a host that is none.
    search: new URLSearchParams(ctx.search),
    headers: ctx.headers,
    body: await readBody(ctx),
    url: `${platform.config.publicUrl}${ctx.path}${ctx.search}`,
    // The entry of the router in front of us; those before it are the sender's own words.
    clientIp: ctx.ips.at(-1) ?? ctx.ip,
  });
  const { component } = await loadCode(platform, source.component_id);
  const isCustom = component.description.props.some(prop => prop.customResponse);
  const runId = newId("run", platform.clock());
  const item = { kind: "http" as const, run_id: runId, at_ms: platform.clock(), event };
  if (!isCustom && !component.uses_respond) {
    await enqueue({ sourceId: source._id, item });
    send(ctx, taken(runId));
    return;
  }
  const replies = await platform.replies();
  const response = replies.first(runId, platform.config.httpResponseWaitMs);
  await enqueue({ sourceId: source._id, item: { ...item, reply_to: replies.address } });
  respond(ctx, await response, { isCustom, runId });
}

async function readBody(ctx: Context): Promise<Buffer> {
  try {
    return await getRawBody(ctx.req, { length: ctx.request.length, limit: MAX_BODY_BYTES });
  } catch (error) {
    if ((error as { type?: string }).type === "entity.too.large") {
      throw new AppError("too-large", `the body is over ${MAX_BODY_BYTES / 1024} KB`, { cause: error });
    }
    throw new AppError("invalid", "the body could not be read", { cause: error });
  }
}

function respond(
  ctx: Context,
  reply: Reply | null,
  { isCustom, runId }: { isCustom: boolean; runId: string },
): void {
  if (!reply) throw new AppError("timeout", "the component did not response in time");
  if (reply.type === "response") {
    send(ctx, answered(reply.response));
    return;
  }
  if (isCustom) {
    throw new AppError("invalid", "the component ended without a response", {
      fields: [{ in: "component", path: "respond", message: "was not called before the run ended" }],
    });
  }
  send(ctx, taken(runId));
}

function send(ctx: Context, { status, headers, body }: IngressResponse): void {
  ctx.status = status;
  ctx.set(headers);
  ctx.body = body;
}

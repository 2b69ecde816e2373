import { isUtf8 } from "node:buffer";
import type { Context, Middleware } from "koa";
import getRawBody from "raw-body";
import { AppError, notFound } from "../errors.ts";
import { createKeyRateLimiter, type RateLimit, rateLimit } from "../http/rate-limit.ts";
import type { Platform } from "../platform.ts";
import type { Reply } from "../queues/replies.ts";
import { newId } from "../store/ids.ts";
import { INGRESS_PREFIX } from "./endpoint.ts";
import { enqueueRun } from "./enqueue-run.ts";
import { httpEvent } from "./http-event.ts";
import { loadCode } from "./load-code.ts";
import { type Source, Sources } from "./model.ts";

type IngressPlatform = Pick<
  Platform,
  "mongo" | "redis" | "keys" | "queues" | "runLine" | "replies" | "clock" | "config"
>;

/** runtime.md: over this 413. */
const BODY_BYTES = 512 * 1024;

const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET,HEAD,PUT,POST,DELETE,PATCH,OPTIONS",
  "access-control-max-age": "86400",
};

/** Takes requests for sources at `/in/<endpoint>/…`: makes the event, puts the run into the line, answers. */
export function ingress(platform: IngressPlatform): Middleware {
  const limit = ingressLimit(platform);
  return async (ctx, next) => {
    if (ctx.path !== INGRESS_PREFIX && !ctx.path.startsWith(`${INGRESS_PREFIX}/`)) return next();
    const [, endpoint = "", rest = ""] = /^\/[^/]+\/([^/]*)(.*)$/s.exec(ctx.path) ?? [];
    ctx.state.route = `${INGRESS_PREFIX}/{endpoint}`;
    const source = await Sources(platform.mongo).findOne({ endpoint, active: true, state: "ready" }).lean();
    if (!source) throw notFound("endpoint");
    await limit?.(ctx, source._id);
    ctx.set(CORS);
    if (ctx.method === "OPTIONS") {
      ctx.set("access-control-allow-headers", ctx.get("access-control-request-headers") || "*");
      ctx.status = 204;
      return;
    }
    await take(platform, ctx, source, rest || "/");
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

async function take(platform: IngressPlatform, ctx: Context, source: Source, path: string): Promise<void> {
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
    await enqueueRun(platform, source._id, item);
    ctx.status = 200;
    ctx.body = { run_id: runId };
    return;
  }
  const replies = await platform.replies();
  const answer = replies.first(runId, platform.config.answerWaitMs);
  await enqueueRun(platform, source._id, { ...item, reply_to: replies.address });
  respond(ctx, await answer, { isCustom, runId });
}

async function readBody(ctx: Context): Promise<Buffer> {
  try {
    return await getRawBody(ctx.req, { length: ctx.request.length, limit: BODY_BYTES });
  } catch (error) {
    if ((error as { type?: string }).type === "entity.too.large") {
      throw new AppError("too-large", `the body is over ${BODY_BYTES / 1024} KB`, { cause: error });
    }
    throw new AppError("invalid", "the body could not be read", { cause: error });
  }
}

/** Headers a component may not set: they describe the connection, which is ours. */
const OWN_HEADERS = new Set([
  "connection",
  "content-length",
  "transfer-encoding",
  "keep-alive",
  "upgrade",
  "trailer",
]);

function respond(
  ctx: Context,
  reply: Reply | null,
  { isCustom, runId }: { isCustom: boolean; runId: string },
): void {
  if (!reply) throw new AppError("timeout", "the component did not answer in time");
  if (reply.type === "response") {
    const { status, headers, bodyBase64 } = reply.response;
    ctx.status = status;
    for (const [name, value] of Object.entries(headers)) {
      if (!OWN_HEADERS.has(name.toLowerCase())) ctx.set(name, value);
    }
    // An answer of a component must not act with the rights of this origin (board, docs).
    ctx.set("content-security-policy", "sandbox");
    const body = Buffer.from(bodyBase64, "base64");
    if (body.length > 0 && !ctx.response.get("content-type") && isUtf8(body)) ctx.type = "text/plain";
    ctx.body = body;
    return;
  }
  if (isCustom) {
    throw new AppError("invalid", "the component ended without a response", {
      fields: [{ in: "component", path: "respond", message: "was not called before the run ended" }],
    });
  }
  ctx.status = 200;
  ctx.body = { run_id: runId };
}

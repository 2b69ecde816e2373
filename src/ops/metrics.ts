import type { Middleware } from "koa";
import { AppError, notFound } from "../lib/errors.ts";
import { cachedFor } from "../lib/lazy.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { Deliveries } from "../models/delivery.ts";
import { Webhooks } from "../models/webhook.ts";
import type { Observed, Stores, Working } from "../platform.ts";
import { openedQueue } from "../queues/define-queue.ts";
import { allQueues } from "../queues/index.ts";
import { shardsOf } from "../queues/shards.ts";
import { countParts, STEP_NAMES } from "../reconcile/parts.ts";
import { readEvictedKeys, readMemoryShare } from "../store/connections/probe-redis.ts";
import { listSetAside } from "../store/sweeps/set-aside.ts";
import { readSweepProgress, unitNames } from "../store/sweeps/sweep-turns.ts";
import { mayInspect } from "./health.ts";

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Times every request under its route's pattern; a path never becomes a label. */
export function timeRequests({ metrics }: Observed): Middleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    try {
      await next();
    } finally {
      metrics.observe("http_request_duration_seconds", (performance.now() - startedAt) / 1000, {
        method: METHODS.has(ctx.method) ? ctx.method : "other",
        route: (ctx.state.route as string | undefined) ?? "other",
        status: String(ctx.status),
      });
    }
  };
}

/** Returns a function that exposes a process's metrics as they were at most a moment ago. */
export const recentMetrics = ({ metrics }: Observed) =>
  cachedFor(LIMITS.inspectionMs.value, () => metrics.expose());

/**
 * `GET /metrics` in Prometheus' text format (docs/metrics.md), for those who have `METRICS_TOKEN`. Without one set,
 * the path does not exist.
 */
export function exposeMetrics(platform: Stores & Observed): Middleware {
  const { metricsToken } = platform.config;
  const expose = recentMetrics(platform);
  return async (ctx, next) => {
    if (ctx.path !== "/metrics") return next();
    ctx.state.route = "/metrics";
    if (!mayInspect(ctx.req, metricsToken)) {
      if (metricsToken === undefined) throw notFound("path");
      throw new AppError(
        "unauthenticated",
        "the header Authorization: Bearer <METRICS_TOKEN> is missing or wrong",
      );
    }
    const { contentType, body } = await expose();
    ctx.type = contentType;
    ctx.body = body;
  };
}

/** Exposes what all processes share; web processes call this, workers don't. */
export function collectInstallation(platform: Working): void {
  const { metrics } = platform;
  metrics.collectGauges(["queue_jobs", "queue_oldest_waiting_seconds"], () => collectQueues(platform));
  metrics.collectGauges(["webhooks", "deliveries_oldest_due_seconds"], () => collectDeliveries(platform));
  metrics.collectGauges(["set_aside_items", "sweep_age_seconds"], () => collectSweeps(platform));
  metrics.collectGauges(["redis_memory_used_ratio"], async () => {
    metrics.set("redis_memory_used_ratio", await readMemoryShare(platform.redis));
  });
  metrics.collectGauges(["redis_evicted_keys"], async () => {
    metrics.set("redis_evicted_keys", await readEvictedKeys(platform.redis));
  });
}

async function collectQueues({ metrics, queues, clock }: Working): Promise<void> {
  for (const { name } of allQueues) {
    const totals: Record<string, number> = {};
    let seconds = 0;
    for (const shard of shardsOf(openedQueue(queues, { name }))) {
      const counts = await shard.getJobCounts("waiting", "active", "delayed", "failed", "prioritized");
      for (const [state, count] of Object.entries(counts)) totals[state] = (totals[state] ?? 0) + count;
      const heads = await Promise.all([shard.getWaiting(0, 0), shard.getPrioritized(0, 0)]);
      seconds = Math.max(seconds, ...heads.flat().map(job => (clock() - job.timestamp) / 1000));
    }
    for (const [state, count] of Object.entries(totals)) {
      metrics.set("queue_jobs", count, { queue: name, state });
    }
    metrics.set("queue_oldest_waiting_seconds", seconds, { queue: name });
  }
}

async function collectSweeps(platform: Working): Promise<void> {
  const [aside, progress] = await Promise.all([listSetAside(platform), readSweepProgress(platform)]);
  for (const step of STEP_NAMES) {
    platform.metrics.set("set_aside_items", aside.filter(item => item.step === step).length, { step });
    const moments = unitNames(step, countParts(platform, step)).flatMap(
      unit => progress.get(unit)?.at_ms ?? [],
    );
    // Of the part that has waited for the longest.
    const ageMs = platform.clock() - Math.min(...moments);
    if (moments.length > 0) platform.metrics.set("sweep_age_seconds", Math.max(0, ageMs / 1000), { step });
  }
}

async function collectDeliveries({ metrics, mongo, clock }: Working): Promise<void> {
  const [failing, disabled, oldest] = await Promise.all([
    Webhooks(mongo)
      .countDocuments({ active: true, failing_since_ms: { $gt: 0 } })
      .hint("failing"),
    Webhooks(mongo)
      .countDocuments({ disabled_reason: { $gt: "" } })
      .hint("disabled"),
    Deliveries(mongo)
      .findOne({ state: "pending", next_attempt_at_ms: { $gt: 0 } }, { next_attempt_at_ms: 1 })
      .sort({ next_attempt_at_ms: 1 })
      .hint("due")
      .lean(),
  ]);
  metrics.set("webhooks", failing, { state: "failing" });
  metrics.set("webhooks", disabled, { state: "disabled" });
  const dueAtMs = oldest?.next_attempt_at_ms ?? clock();
  metrics.set("deliveries_oldest_due_seconds", Math.max(0, (clock() - dueAtMs) / 1000));
}

import type { Middleware } from "koa";
import { Gauge, Histogram, Registry } from "prom-client";
import type { Platform } from "../platform.ts";

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Returns the counters of all processes in the text format of Prometheus. */
function counterLines(counts: Record<string, number>): string {
  const names = new Set<string>();
  const lines: string[] = [];
  for (const series of Object.keys(counts).sort()) {
    const name = series.replace(/\{.*$/, "");
    if (!names.has(name)) lines.push(`# TYPE headwater_${name} counter`);
    names.add(name);
    lines.push(`headwater_${series} ${counts[series]}`);
  }
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

/** Creates the metrics of this process, in a new registry, so that several apps in one process share no counts. */
function createSeries() {
  const registry = new Registry();
  const registers = [registry];
  const httpSeconds = new Histogram({
    name: "headwater_http_request_duration_seconds",
    help: "Time to respond to a request, by route pattern",
    labelNames: ["method", "route", "status"] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
    registers,
  });
  const queueJobs = new Gauge({
    name: "headwater_queue_jobs",
    help: "Jobs in a queue, by state",
    labelNames: ["queue", "state"] as const,
    registers,
  });
  const queueAge = new Gauge({
    name: "headwater_queue_oldest_waiting_seconds",
    help: "Age of the job that has waited longest",
    labelNames: ["queue"] as const,
    registers,
  });
  return { registry, httpSeconds, queueJobs, queueAge };
}

export interface Metrics {
  /** Measures the time of every request by the pattern of its route; a path never becomes a label. */
  time: Middleware;
  /** Serves `/metrics`: HTTP requests of this process, the queues, and the counters of all processes. */
  expose: Middleware;
}

export function createMetrics(platform: Pick<Platform, "queues" | "counters" | "clock">): Metrics {
  const { registry, httpSeconds, queueJobs, queueAge } = createSeries();

  const readQueues = async () => {
    for (const [name, queue] of platform.queues) {
      const counts = await queue.getJobCounts("waiting", "active", "delayed", "failed", "prioritized");
      for (const [state, count] of Object.entries(counts)) queueJobs.set({ queue: name, state }, count);
      const [oldest] = await queue.getWaiting(0, 0);
      queueAge.set({ queue: name }, oldest ? Math.max(0, (platform.clock() - oldest.timestamp) / 1000) : 0);
    }
  };

  return {
    async time(ctx, next) {
      const end = httpSeconds.startTimer();
      try {
        await next();
      } finally {
        const method = METHODS.has(ctx.method) ? ctx.method : "other";
        end({
          method,
          route: (ctx.state.route as string | undefined) ?? "other",
          status: String(ctx.status),
        });
      }
    },
    async expose(ctx, next) {
      if (ctx.path !== "/metrics") return next();
      await readQueues();
      ctx.type = registry.contentType;
      ctx.body = `${await registry.metrics()}${counterLines(await platform.counters.read())}`;
    },
  };
}

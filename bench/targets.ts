import { Queue } from "bullmq";
import { pino } from "pino";
import { Pool } from "undici";
import { newId } from "../src/lib/ids.ts";
import { enqueue } from "../src/queues/define-queue.ts";
import { type Emission, emissions, openPublisher } from "../src/queues/emissions.ts";
import { openQueues } from "../src/queues/open-queues.ts";
import { openProducerRedis, whenReady } from "../src/store/connections/redis.ts";
import { singleServer } from "../src/store/connections/redis-url.ts";
import type { BenchEvent } from "./event.ts";
import { addRawJobs, type RawQueue } from "./raw-queue.ts";

/**
 * Where events are sent: HTTP endpoints in turn, emitters of Headwater's API in turn, its `emissions` queue, or the raw
 * limit's queue.
 */
export type Target =
  | { kind: "http"; urls: string[]; connections: number }
  | { kind: "publish"; urls: string[]; apiKey: string; connections: number }
  | { kind: "emissions"; redisUrl: string; redisPrefix: string; emitterId: string; publish: Publish }
  | { kind: "raw"; queue: RawQueue; webhookUrls: string[] };

/** `batched`: by Headwater's own publisher; `single`: one job per event, as any BullMQ client may (docs/jobs.md). */
export type Publish = "batched" | "single";

export interface OpenTarget {
  /** Resolves when the event is accepted. */
  send(event: BenchEvent): Promise<void>;
  close(): Promise<void>;
}

export async function openTarget(target: Target): Promise<OpenTarget> {
  switch (target.kind) {
    case "http":
      return openHttp(target.urls, target.connections);
    case "publish":
      return openPublish(target);
    case "emissions":
      return await openEmissions(target);
    case "raw": {
      const queue = new Queue(target.queue.name, { connection: { url: target.queue.redisUrl } });
      return {
        send: event => addRawJobs(queue, target.webhookUrls, JSON.stringify(event)),
        close: () => queue.close(),
      };
    }
  }
}

function openHttp(urls: string[], connections: number): OpenTarget {
  const paths = urls.map(url => new URL(url).pathname);
  const pool = new Pool(new URL(urls[0] ?? "").origin, { connections });
  const headers = { "content-type": "application/json" };
  return {
    async send(event) {
      const body = JSON.stringify(event);
      const path = paths[event.n % paths.length] ?? "/";
      const response = await pool.request({ method: "POST", path, headers, body });
      await response.body.dump();
      if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
    },
    close: () => pool.close(),
  };
}

/** Publishes each event by a request of its own, as a program does (docs/rest-api.md#publish). */
function openPublish({ urls, apiKey, connections }: Target & { kind: "publish" }): OpenTarget {
  const paths = urls.map(url => new URL(url).pathname);
  const pool = new Pool(new URL(urls[0] ?? "").origin, { connections });
  const headers = { "content-type": "application/json", authorization: `Bearer ${apiKey}` };
  return {
    async send(event) {
      const body = JSON.stringify({ event });
      const path = paths[event.n % paths.length] ?? "/";
      const response = await pool.request({ method: "POST", path, headers, body });
      await response.body.dump();
      if (response.statusCode !== 202) throw new Error(`status ${response.statusCode}`);
    },
    close: () => pool.close(),
  };
}

async function openEmissions(target: Target & { kind: "emissions" }): Promise<OpenTarget> {
  const redis = openProducerRedis(singleServer(target.redisUrl));
  await whenReady(redis, 5000);
  const queues = await openQueues([emissions], {
    redis,
    prefix: target.redisPrefix,
    log: pino({ level: "warn" }),
    deadlineMs: 5000,
  });
  const publish =
    target.publish === "batched"
      ? openPublisher(queues)
      : (emission: Emission) => enqueue(queues, emissions.jobs.emissions, emission);
  return {
    send: event => publish({ emitter_id: target.emitterId, emit_id: newId("emit"), event }),
    async close() {
      await Promise.all([...queues.values()].map(queue => queue.close()));
      redis.disconnect();
    },
  };
}

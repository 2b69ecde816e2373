import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Queue } from "bullmq";
import { startChild } from "./child.ts";
import type { AcceptRequest } from "./processes/raw-accept.ts";
import type { RawWorkRequest } from "./processes/raw-worker.ts";
import type { Side } from "./side.ts";
import { type Stores, whenIdle } from "./stores.ts";

/** Whether the raw limit takes events by HTTP, or its queue is filled by the sender itself. */
export type RawFront = "http" | "add";

/** As many POSTs at once as connections of its pool. */
const CONCURRENCY = 100;

/**
 * Starts the raw limit of this stack: node:http → BullMQ `add` → BullMQ `Worker` → undici POST, on the same Redis, and
 * nothing else. No ids, no storage, no signature, no retries, no log. For several webhooks one event becomes as many
 * jobs in one `addBulk`. With the front `add` the sender's own process does what node:http does otherwise, as it does
 * for Headwater's `emissions`.
 */
export async function startRaw(options: {
  folder: string;
  stores: Stores;
  webhookUrls: string[];
  senders: number;
  front: RawFront;
  logFile: string;
}): Promise<Side & { stop(): Promise<void> }> {
  const { stores, webhookUrls, logFile } = options;
  const queue = { name: `raw-${randomBytes(4).toString("hex")}`, redisUrl: stores.redisUrl };
  const worker = await startChild(join(options.folder, "raw-worker.mjs"), { logFile });
  await worker.ask({ queue, concurrency: CONCURRENCY } satisfies RawWorkRequest);
  const accept =
    options.front === "http"
      ? await startChild(join(options.folder, "raw-accept.mjs"), { logFile })
      : undefined;
  const port = await accept?.ask<number>({ queue, webhookUrls } satisfies AcceptRequest);
  const counted = new Queue(queue.name, { connection: { url: queue.redisUrl } });
  return {
    watched: [
      { name: "raw worker", group: "ours", pid: worker.pid },
      ...(accept ? [{ name: "raw accept", group: "ours" as const, pid: accept.pid }] : []),
      ...stores.watched,
    ],
    target: accept
      ? { kind: "http", urls: [`http://127.0.0.1:${port}/`], connections: options.senders }
      : { kind: "raw", queue, webhookUrls },
    whenIdle: () => whenIdle([counted]),
    async stop() {
      await Promise.all([worker.stop(), accept?.stop()]);
      await counted.obliterate({ force: true });
      await counted.close();
    },
  };
}

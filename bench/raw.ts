import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Queue } from "bullmq";
import { startChild } from "./child.ts";
import type { AcceptRequest } from "./processes/raw-accept.ts";
import type { RawWorkRequest } from "./processes/raw-worker.ts";
import type { Side } from "./side.ts";
import { type Stores, whenIdle } from "./stores.ts";

/** `http`: the raw limit receives events by HTTP; `add`: the sender fills its queue itself. */
export type RawFront = "http" | "add";

/** POSTs at once; the worker's pool has as many connections. */
const CONCURRENCY = 100;

/**
 * Starts the raw limit of this stack: node:http → BullMQ `add` → BullMQ `Worker` → undici POST, on the same Redis,
 * without ids, storage, signature, retries or log. For several webhooks one event becomes as many jobs in one `addBulk`.
 * With the front `add` the sender adds the jobs itself, as it does for Headwater's `emissions`.
 */
export async function startRaw(options: {
  folder: string;
  stores: Stores;
  webhookUrls: string[];
  senders: number;
  front: RawFront;
  logFile: string;
  nodePath: string | undefined;
}): Promise<Side & { stop(): Promise<void> }> {
  const { stores, webhookUrls, logFile, nodePath } = options;
  const queue = { name: `raw-${randomBytes(4).toString("hex")}`, redisUrl: stores.redisUrl };
  const worker = await startChild(join(options.folder, "raw-worker.mjs"), { logFile, nodePath });
  await worker.request({ queue, concurrency: CONCURRENCY } satisfies RawWorkRequest);
  const accept =
    options.front === "http"
      ? await startChild(join(options.folder, "raw-accept.mjs"), { logFile, nodePath })
      : undefined;
  const port = await accept?.request<number>({ queue, webhookUrls } satisfies AcceptRequest);
  const counted = new Queue(queue.name, { connection: { url: queue.redisUrl } });
  return {
    watched: [
      { name: "raw worker", group: "ours", pid: worker.pid },
      ...(accept ? [{ name: "raw accept", group: "ours" as const, pid: accept.pid }] : []),
      ...stores.watched,
    ],
    stores,
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

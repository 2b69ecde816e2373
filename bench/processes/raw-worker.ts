import { Worker } from "bullmq";
import { Pool } from "undici";
import type { RawJob, RawQueue } from "../raw-queue.ts";
import { serveParent } from "../serve-parent.ts";

/** The raw limit's worker: each BullMQ job is one POST, and nothing else. */
export interface RawWorkRequest {
  queue: RawQueue;
  concurrency: number;
}

let pool: Pool | undefined;
let deliveries = 0;

async function post({ url, body }: RawJob): Promise<void> {
  const { origin, pathname: path } = new URL(url);
  pool ??= new Pool(origin, { connections: 100 });
  const headers = { "content-type": "application/json", "webhook-id": `raw-${++deliveries}` };
  const response = await pool.request({ method: "POST", path, headers, body });
  await response.body.dump();
}

serveParent<RawWorkRequest>(async ({ queue, concurrency }) => {
  const worker = new Worker<RawJob>(queue.name, job => post(job.data), {
    connection: { url: queue.redisUrl, maxRetriesPerRequest: null },
    concurrency,
  });
  await worker.waitUntilReady();
  return undefined;
});

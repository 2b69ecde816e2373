import { Worker } from "bullmq";
import { Pool } from "undici";
import { answerParent } from "../answer-parent.ts";
import type { RawJob, RawQueue } from "../raw-queue.ts";

/** The raw limit's back: each BullMQ job is one POST, and nothing else. */
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
  const answer = await pool.request({ method: "POST", path, headers, body });
  await answer.body.dump();
}

answerParent<RawWorkRequest>(async ({ queue, concurrency }) => {
  const worker = new Worker<RawJob>(queue.name, job => post(job.data), {
    connection: { url: queue.redisUrl, maxRetriesPerRequest: null },
    concurrency,
  });
  await worker.waitUntilReady();
  return undefined;
});

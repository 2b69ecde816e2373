import type { Queue } from "bullmq";

/** The raw limit's queue, with BullMQ's defaults, except that finished jobs are not kept. */
export interface RawQueue {
  name: string;
  redisUrl: string;
}

export interface RawJob {
  url: string;
  body: string;
}

const OPTIONS = { removeOnComplete: true, removeOnFail: true };

/** Adds one job for each webhook, in one round trip: the minimum of a fan-out. */
export async function addRawJobs(queue: Queue, urls: string[], body: string): Promise<void> {
  const [first, ...others] = urls;
  if (first !== undefined && others.length === 0) await queue.add("raw", { url: first, body }, OPTIONS);
  else await queue.addBulk(urls.map(url => ({ name: "raw", data: { url, body }, opts: OPTIONS })));
}

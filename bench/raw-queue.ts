import type { Queue } from "bullmq";

/** The raw limit's queue, with BullMQ's own defaults but for finished jobs, which nobody looks at. */
export interface RawQueue {
  name: string;
  redisUrl: string;
}

export interface RawJob {
  url: string;
  body: string;
}

const OPTIONS = { removeOnComplete: true, removeOnFail: true };

/** One job for each webhook, in one round trip: the least that a fan-out can do. */
export async function addRawJobs(queue: Queue, urls: string[], body: string): Promise<void> {
  const [first, ...others] = urls;
  if (first !== undefined && others.length === 0) await queue.add("raw", { url: first, body }, OPTIONS);
  else await queue.addBulk(urls.map(url => ({ name: "raw", data: { url, body }, opts: OPTIONS })));
}

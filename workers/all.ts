import { extname } from "node:path";
import type { Platform } from "../src/platform.ts";
import { consumedQueues } from "../src/queues/index.ts";
import type { RunningWorker } from "../src/queues/run-worker.ts";
import { isEntry, startWorker } from "./start-worker.ts";

type Start = (platform: Platform) => RunningWorker;

/** The `start` of each queue's worker: queue `x` is consumed by `workers/x.ts`. */
const starts = await Promise.all(
  consumedQueues.map(async ({ name }): Promise<Start> => {
    const file = new URL(`./${name}${extname(import.meta.url)}`, import.meta.url);
    return ((await import(file.href)) as { start: Start }).start;
  }),
);

/** Consumes every queue in one process, for small installations. */
export function start(platform: Platform): RunningWorker {
  const workers = starts.map(startOne => startOne(platform));
  return {
    async ready() {
      await Promise.all(workers.map(worker => worker.ready()));
    },
    async close(deadlineMs) {
      await Promise.all(workers.map(worker => worker.close(deadlineMs)));
    },
  };
}

if (isEntry(import.meta.url)) await startWorker("all", start);

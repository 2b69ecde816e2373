import { gather } from "../lib/batcher.ts";
import { enqueueAll, type Queues } from "./define-queue.ts";
import { EMISSIONS_PER_JOB, type Emission, type EmissionsJob, emissions } from "./emissions.ts";

/** Of a job's events together: Redis and a worker hold it whole. */
const BYTES_PER_JOB = 512 * 1024;
/** Emissions put on the queue in one round trip. */
const AT_ONCE = 1000;

/** Packs emissions into few jobs, in their order. */
export function inJobs(all: Emission[]): EmissionsJob[] {
  const jobs: Emission[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const emission of all) {
    const size = sizeOf(emission);
    bytes += size;
    if (bytes > BYTES_PER_JOB || jobs.at(-1)?.length === EMISSIONS_PER_JOB) {
      jobs.push([]);
      bytes = size;
    }
    jobs.at(-1)?.push(emission);
  }
  return jobs.map(some => (some.length === 1 ? (some[0] as Emission) : { emissions: some }));
}

const sizeOf = ({ event }: Emission): number => (JSON.stringify(event) ?? "").length;

/**
 * Opens the producer of the `emissions` queue: what is given to it at the same time goes in one job. Each call ends when
 * Redis holds its emission. Throws `unavailable`.
 */
export function openPublisher(queues: Queues): (emission: Emission) => Promise<void> {
  return gather((batch: Emission[]) => enqueueAll(queues, emissions, inJobs(batch)), {
    most: AT_ONCE,
    atOnce: 4,
  });
}

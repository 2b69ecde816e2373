import { createBatcher } from "../lib/batcher.ts";
import { divide } from "../lib/divide.ts";
import { jsonTextOf } from "../lib/json-text.ts";
import { groupBy } from "../lib/lists.ts";
import { enqueueAll, openedQueue, type Queues } from "./define-queue.ts";
import { EMISSIONS_PER_JOB, type Emission, type EmissionsJob, emissions } from "./emissions.ts";
import { shardNumber } from "./shards.ts";

/** Most bytes of events in one job: Redis and a worker hold a job whole. */
export const BYTES_PER_JOB = 512 * 1024;
/** Emissions enqueued in one round trip. */
const EMISSIONS_PER_ROUND_TRIP = 1000;

/** Packs emissions of one account into few jobs, in order. */
export function packEmissions(all: Emission[], accountId?: string): EmissionsJob[] {
  return packBySize(all, sizeOf).map(packed => jobOf(packed, accountId));
}

/** Divides a list into parts that fit into one job each, in order; `sizeOf` returns the bytes of an entry. */
export function packBySize<T>(all: T[], sizeOf: (entry: T) => number): T[][] {
  return divide(all, BYTES_PER_JOB, sizeOf, EMISSIONS_PER_JOB);
}

/** Returns the job of emissions that were packed together, in the turn of their account. */
export const jobOf = (packed: Emission[], accountId?: string): EmissionsJob => ({
  ...(packed.length === 1 ? (packed[0] as Emission) : { emissions: packed }),
  ...(accountId !== undefined && { account_id: accountId }),
});

/** The length of an emission's JSON, which is that of its event. */
export const sizeOf = ({ event }: Emission): number => jsonTextOf(event).text.length;

/**
 * Opens a producer of the `emissions` queue; emissions passed at the same time share one job. The returned function
 * resolves once Redis holds the emission. It throws `unavailable`.
 */
export function openPublisher(queues: Queues): (emission: Emission) => Promise<void> {
  const publish = openBatchers(queues, () =>
    createBatcher(
      async (batch: Emission[]) => {
        const ofAccounts = groupBy(batch, ({ account_id, emitter_id }) => account_id ?? emitter_id);
        const jobs = [...ofAccounts].flatMap(([account, ofOne]) => packEmissions(ofOne, account));
        await enqueueAll(queues, emissions.jobs.emissions, jobs);
      },
      { maxWeight: EMISSIONS_PER_ROUND_TRIP, concurrency: 4 },
    ),
  );
  return emission => publish(emission.emitter_id, emission);
}

/**
 * Opens a batcher for each shard of the queue, so that a batch is one transaction of Redis' and the emissions of an emitter
 * stay in order; the returned function adds an entry to that of its emitter.
 */
export function openBatchers<In>(
  queues: Queues,
  open: () => (entry: In) => Promise<void>,
): (emitterId: string, entry: In) => Promise<void> {
  const batchers: ((entry: In) => Promise<void>)[] = [];
  return (emitterId, entry) => {
    const shard = shardNumber(openedQueue(queues, emissions), emitterId);
    const batcher = batchers[shard] ?? open();
    batchers[shard] = batcher;
    return batcher(entry);
  };
}

import { type Static, type TObject, Type } from "typebox";
import { createBatcher } from "../lib/batcher.ts";
import { divide } from "../lib/divide.ts";
import { isDeeperThan, JsonText, jsonTextOf, parseAround } from "../lib/json-text.ts";
import { groupBy } from "../lib/lists.ts";
import { newAjv, patternInWords, wordsOfPattern } from "../lib/schemas.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { ANY_CHANNEL } from "../sandbox/child/emit-metadata.ts";
import { defineQueue, enqueueAll, FAILED_JOBS_KEPT, openedQueue, type Queues } from "./define-queue.ts";
import { shardNumber } from "./shards.ts";

/** A custom channel, or one of the two that the platform itself emits on; no other name begins with `$`. The API's rule too. */
export const CHANNEL = patternInWords(
  ANY_CHANNEL,
  "must be a channel: $errors, $logs, or a text without control characters and without $ at its beginning",
);
const ChannelName = Type.String({ maxLength: LIMITS.channelCharacters.value, pattern: CHANNEL });

/** Whose turn the job takes; without it each emitter has turns of its own. */
const AccountId = Type.Optional(Type.String({ maxLength: 64 }));

/** The account, and the bytes of this job that were counted for it, which its handler takes off again. */
const Counted = Type.Optional(Type.Tuple([Type.String({ maxLength: 64 }), Type.Integer({ minimum: 0 })]));

/** The row of a job that MongoDB has, too, until it is handled; also the id of the job. */
const Kept = Type.Optional(
  Type.String({ pattern: patternInWords("^[0-9A-Za-z]{32}$", "must be 32 letters and digits") }),
);

/** Public: a workflow engine that holds the Redis credentials may enqueue these (docs/jobs.md). */
export const Emission = Type.Object({
  emitter_id: Type.String({
    pattern: patternInWords("^(dc|p)_[A-Za-z0-9]{16}$", "must be the id of a source or a workflow"),
  }),
  /** The emission's identity: a repeated one stores and delivers nothing twice. */
  emit_id: Type.String({ minLength: 1, maxLength: 256 }),
  /** Channel; empty or absent for the default channel. */
  name: Type.Optional(ChannelName),
  /** JSON, or a JsonText in its place. */
  event: Type.Unknown(),
  /** A line for people, kept with the summary. */
  summary: Type.Optional(Type.String({ maxLength: 1024 })),
  /** Position in the emitter's order, reserved by the platform's own producers. */
  score: Type.Optional(Type.Integer({ minimum: 1 })),
  /** When the event happened, if its publisher says so; Unix milliseconds. */
  ts: Type.Optional(Type.Number()),
  /**
   * When it was published over HTTP under an id of the caller's, which is remembered as long as events are kept. Unix
   * milliseconds. It distinguishes a later request with the same id from a repetition of this job.
   */
  requested_at_ms: Type.Optional(Type.Integer({ minimum: 1 })),
  /** How many listeners led to this event; ends loops of sources that listen to each other. */
  hops: Type.Optional(Type.Integer({ minimum: 0 })),
  /** Its place in a trace (src/tracing/trace-context.ts); a text that is none counts as absent. */
  trace: Type.Optional(Type.String({ maxLength: 1024 })),
  account_id: AccountId,
  counted: Counted,
  kept: Kept,
});
export type Emission = Static<typeof Emission>;

/** Most emissions in one job. */
export const EMISSIONS_PER_JOB = 200;

/** The emissions are checked one by one: an invalid one must not keep the others from being handled. */
const Emissions = Type.Object({
  emissions: Type.Array(Type.Unsafe<Emission>({}), { minItems: 1, maxItems: EMISSIONS_PER_JOB }),
  account_id: AccountId,
  counted: Counted,
  kept: Kept,
});

/** One emission, or many in one job: a job costs several times what storing an event does. */
export type EmissionsJob = Emission | Static<typeof Emissions>;

export const EmissionsJob = Type.Unsafe<EmissionsJob>({
  // Not `anyOf`, whose errors name no field.
  if: { type: "object", required: ["emissions"] },
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own keyword
  then: Emissions as TObject,
  else: Emission as TObject,
});

const isEmission = newAjv({ strict: false }).compile<Emission>(Emission);
const MAX_DEPTH = LIMITS.eventDepth.value;

/** Returns what is wrong with an emission (docs/jobs.md); undefined if it is valid. */
export function emissionProblem(emission: unknown): string | undefined {
  if (!isEmission(emission)) {
    const [error] = isEmission.errors ?? [];
    const message = error?.keyword === "pattern" ? wordsOfPattern(error.params.pattern) : error?.message;
    return `${error?.instancePath.slice(1) || "emission"} ${message}`;
  }
  const { event } = emission;
  const isTooDeep =
    event instanceof JsonText ? event.shape.depth > MAX_DEPTH : isDeeperThan(event, MAX_DEPTH);
  return isTooDeep ? `event is nested deeper than ${MAX_DEPTH} levels` : undefined;
}

/** Reads a job from JSON: its events stay texts, which most emissions pass on as they are. */
export const readEmissionsJob = (json: string): EmissionsJob =>
  parseAround(json, { member: "event", list: "emissions" }) as EmissionsJob;

/** The emissions that a job holds, in order. */
export const emissionsIn = (job: EmissionsJob): Emission[] => ("emissions" in job ? job.emissions : [job]);

/** Returns whose turn a job takes; one that an engine of yours enqueued may say only who emits. */
export const accountOf = (job: EmissionsJob): string =>
  job.account_id ?? emissionsIn(job)[0]?.emitter_id ?? "";

/** The job without its events: whose they were, and their ids. */
function withoutEvents(job: EmissionsJob): unknown {
  const idsOf = ({ emitter_id, emit_id, name }: Emission) => ({ emitter_id, emit_id, name });
  return { emissions: emissionsIn(job).map(idsOf) };
}
/** Emissions that cost as much as a job of a single one: those of one job share most of their work. */
const EMISSIONS_PER_COST = 8;

export const emissions = defineQueue({
  name: "emissions",
  concurrency: 24,
  quantum: 32,
  waitsForStoresOnly: true,
  readPayload: readEmissionsJob,
  options: {
    attempts: 12,
    backoff: { type: "exponential", delay: 500, jitter: 0.5 },
    // Completed jobs are not kept, because they hold the events themselves.
    removeOnComplete: true,
    // A failed job keeps small events, so that an operator can retry it from the board.
    removeOnFail: FAILED_JOBS_KEPT,
  },
  jobs: {
    emissions: {
      schema: EmissionsJob,
      jobId: job => job.kept,
      keptPayload: withoutEvents,
      charge: job => ({
        account: accountOf(job),
        cost: Math.ceil(emissionsIn(job).length / EMISSIONS_PER_COST),
      }),
      shardBy: job => emissionsIn(job)[0]?.emitter_id ?? "",
    },
  },
});

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

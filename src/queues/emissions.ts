import { type Static, type TObject, Type } from "typebox";
import { defineQueue } from "./define-queue.ts";

/** A custom channel, or one of the two that the platform itself emits on; no other name begins with `$`. */
export const ChannelName = Type.String({ maxLength: 128, pattern: "^(|\\$errors|\\$logs|[^$\\u0000].*)$" });

/** The account, and the bytes of this job that were counted for it, which its handler takes off again. */
const Counted = Type.Optional(Type.Tuple([Type.String({ maxLength: 64 }), Type.Integer({ minimum: 0 })]));

/** Public: a workflow engine that holds the Redis credentials may enqueue these (docs/jobs.md). */
export const Emission = Type.Object({
  emitter_id: Type.String({ pattern: "^(dc|p)_[A-Za-z0-9]{16}$" }),
  /** The emission's identity: a repeated one stores and delivers nothing twice. */
  emit_id: Type.String({ minLength: 1, maxLength: 256 }),
  /** Channel; empty or absent for the default channel. */
  name: Type.Optional(ChannelName),
  event: Type.Unknown(),
  /** A line for people, kept with the summary. */
  summary: Type.Optional(Type.String({ maxLength: 1024 })),
  /** Position in the emitter's order, reserved by the platform's own producers. */
  score: Type.Optional(Type.Integer({ minimum: 1 })),
  /** How many listeners led to this event; ends loops of sources that listen to each other. */
  hops: Type.Optional(Type.Integer({ minimum: 0 })),
  counted: Counted,
});
export type Emission = Static<typeof Emission>;

/** Most emissions in one job. */
export const EMISSIONS_PER_JOB = 200;

const Emissions = Type.Object({
  emissions: Type.Array(Emission, { minItems: 1, maxItems: EMISSIONS_PER_JOB }),
  counted: Counted,
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

/** The emissions that a job holds, in order. */
export const emissionsIn = (job: EmissionsJob): Emission[] => ("emissions" in job ? job.emissions : [job]);

export const emissions = defineQueue({
  name: "emissions",
  concurrency: 16,
  options: {
    attempts: 12,
    backoff: { type: "exponential", delay: 500, jitter: 0.5 },
    // Completed jobs are not kept, because they hold the events themselves.
    removeOnComplete: true,
    // A failed job is kept with its events, so that an operator can retry it from the board.
    removeOnFail: { age: 30 * 86_400, count: 10_000 },
  },
  jobs: { emissions: { schema: EmissionsJob } },
});

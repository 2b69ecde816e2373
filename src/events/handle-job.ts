import { deleteKeptLater } from "../accepted/keep.ts";
import { createBatcher } from "../lib/batcher.ts";
import { AppError, notFound } from "../lib/errors.ts";
import { groupBy } from "../lib/lists.ts";
import type { Working } from "../platform.ts";
import {
  type Emission,
  type EmissionsJob,
  emissionProblem,
  emissionsIn,
  jobOf,
} from "../queues/emissions.ts";
import type { JobContext } from "../queues/job-kinds.ts";
import { Snooze } from "../queues/verdicts.ts";
import { countDrop } from "../store/events/drops.ts";
import { countEmissionBytes } from "../store/limits/waiting-bytes.ts";
import { emitAll, emitterUncertain, UNCERTAIN } from "./emit.ts";
import { findEmitter } from "./find.ts";

/** Emissions that go through the stores together: the round trips are most of what one costs. */
const EMISSIONS_PER_BATCH = 128;
/** At least as many as there are jobs: one that waits for its events to be stored holds up no other. */
const BATCHES_AT_ONCE = 32;
/** By then the worker that was handling the same emission has stored it, or has died. */
const DEFER_MS = 500;
const MAX_DEFERRALS = 3;

interface ValidJob {
  emissions: Emission[];
  /** The emitter's owner; the emitter for a job of another producer. */
  account: string;
}

type EmissionsContext = Pick<JobContext<EmissionsJob>, "job" | "attemptsStarted" | "updateJob">;

/** Opens the handler of the `emissions` queue; jobs that arrive at the same time share their round trips. */
export function openEmissionsHandler(platform: Working) {
  const emitter = (mayDefer: boolean) =>
    createBatcher(
      async (jobs: ValidJob[]) => {
        const all = jobs.flatMap(({ emissions }) => emissions);
        const results = await emitAll(platform, all, { mayDefer });
        return jobs.map(({ emissions }) => results.splice(0, emissions.length));
      },
      {
        maxWeight: EMISSIONS_PER_BATCH,
        concurrency: BATCHES_AT_ONCE,
        weigh: ({ emissions }) => emissions.length,
        accountOf: ({ account }) => account,
      },
    );
  const [emitOrDefer, emitNow] = [emitter(true), emitter(false)];

  return async ({ job, attemptsStarted, updateJob }: EmissionsContext): Promise<Record<string, unknown>> => {
    const emitJob = attemptsStarted > MAX_DEFERRALS ? emitNow : emitOrDefer;
    const emit = (emissions: Emission[]) =>
      emitJob({ emissions, account: job.account_id ?? emissions[0]?.emitter_id ?? "" });
    const valid = await withoutInvalid(platform, emissionsIn(job));
    const results = await emit(valid).catch(async (error: unknown) => {
      const isAway = error instanceof AppError && error.code === "unavailable";
      const failed = isAway || valid.length === 1 ? valid : await emitOneByOne(valid, emit);
      // Keeps the event ids that were given. If Redis is away too, it remembers them for a while.
      const { account_id, counted, kept } = job;
      const rest = { ...jobOf(failed, account_id), ...(counted && { counted }), ...(kept && { kept }) };
      await updateJob(rest).catch(() => undefined);
      throw error;
    });
    // Those that were handled are found done when the job comes again.
    if (results.includes(UNCERTAIN)) throw emitterUncertain();
    const emitted = results.filter(result => result !== null && result !== UNCERTAIN);
    const isDone = !emitted.some(({ deferred }) => deferred);
    // If this fails, the count is corrected once the account is silent.
    if (job.counted && isDone) {
      void countEmissionBytes(platform, job.counted[0], -job.counted[1]).catch(() => undefined);
    }
    if (job.kept && isDone) deleteKeptLater(platform, [job.kept]);
    const [first] = emitted;
    if (!first) throw notFound("emitter");
    if (!isDone) throw new Snooze(DEFER_MS, { ...first });
    if (results.length === 1) return { ...first };
    return {
      emitter_id: first.emitter_id,
      events: emitted.length,
      first_event_id: first.event_id,
      last_event_id: emitted.at(-1)?.event_id,
      listeners: emitted.reduce((sum, { listeners }) => sum + listeners, 0),
      ...(emitted.length < results.length && { emitter_deleted: results.length - emitted.length }),
    };
  };
}

/** Returns the valid emissions of a job; the others are counted and logged. Throws `invalid` if none is valid. */
async function withoutInvalid(platform: Working, emissions: Emission[]): Promise<Emission[]> {
  const problems = emissions.map(emissionProblem);
  const [problem] = problems.filter(one => one !== undefined);
  if (problem === undefined) return emissions;
  const valid = emissions.filter((_, i) => problems[i] === undefined);
  // The job then fails, which counts them.
  if (valid.length === 0) throw new AppError("invalid", `job payload: ${problem}`);
  const invalid = emissions.filter((_, i) => problems[i] !== undefined);
  platform.log.warn(
    { problem, count: invalid.length, emit_ids: idsOf(invalid) },
    "invalid emissions dropped",
  );
  await countLostEmissions(platform, { emissions: invalid });
  return valid;
}

/** Emits each by itself; returns those that failed, to be tried again without the others. */
async function emitOneByOne(
  emissions: Emission[],
  emit: (one: Emission[]) => Promise<unknown>,
): Promise<Emission[]> {
  const failed: Emission[] = [];
  for (const emission of emissions) await emit([emission]).catch(() => failed.push(emission));
  // All of them may have passed now; then the next attempt finds each of them done.
  return failed.length > 0 ? failed : emissions;
}

/** Counts the emissions of a job that was given up, as `invalid`, for those emitters that exist. */
export async function countLostEmissions(platform: Working, payload: unknown): Promise<void> {
  const { emissions = [payload] } = (payload ?? {}) as { emissions?: unknown[] };
  if (!Array.isArray(emissions)) return;
  const byEmitter = groupBy(emissions as (Partial<Emission> | null)[], one => String(one?.emitter_id));
  for (const [emitterId, lost] of byEmitter) {
    if (await findEmitter(platform, emitterId)) await countDrop(platform, emitterId, "invalid", lost.length);
    else platform.metrics.count("events_dropped_total", { reason: "invalid" }, lost.length);
  }
}

const idsOf = (emissions: Partial<Emission>[]) =>
  emissions.slice(0, 10).map(one => String(one?.emit_id).slice(0, 256));

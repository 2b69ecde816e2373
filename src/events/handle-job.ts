import { createBatcher, LINGER } from "../lib/batcher.ts";
import { notFound } from "../lib/errors.ts";
import type { StoredEvent } from "../models/event.ts";
import { type Emission, type EmissionsJob, emissionsIn } from "../queues/emissions.ts";
import type { JobContext } from "../queues/run-worker.ts";
import { Snooze } from "../queues/snooze.ts";
import { countEmissionBytes } from "../store/emission-bytes.ts";
import { openDeleteTrimmed } from "./delete-trimmed.ts";
import { emitAll } from "./emit.ts";
import type { EmitDeps } from "./fan-out.ts";
import { storeEvents } from "./store.ts";

/** Emissions that go through the stores together: the round trips are most of what one costs. */
const EMISSIONS_PER_BATCH = 128;
/** As many as there are jobs: one that waits for its events to be stored holds up no other. */
const BATCHES_AT_ONCE = 16;
/** Events in one insert; and inserts at a time, so that the next is prepared while MongoDB handles another. */
const EVENTS_PER_INSERT = 500;
const INSERTS_AT_ONCE = 3;

/** By then the worker that was handling the same emission has stored it, or has died. */
const DEFER_MS = 500;
const MAX_DEFERRALS = 3;

type EmissionsContext = Pick<JobContext<EmissionsJob>, "job" | "attemptsStarted" | "updateJob">;

/** Opens the handler of the `emissions` queue; jobs that arrive at the same time share their round trips. */
export function openEmissionsHandler(platform: EmitDeps) {
  const deleteTrimmed = openDeleteTrimmed(platform);
  const insert = createBatcher((batch: StoredEvent[][]) => storeEvents(platform, batch.flat()), {
    maxWeight: EVENTS_PER_INSERT,
    concurrency: INSERTS_AT_ONCE,
    weigh: events => events.length,
    ...LINGER,
  });
  const store = async (events: StoredEvent[]) => {
    if (events.length > 0) await insert(events);
  };
  const emitter = (mayDefer: boolean) =>
    createBatcher(
      async (jobs: Emission[][]) => {
        const results = await emitAll(platform, jobs.flat(), { mayDefer, deleteTrimmed, store });
        return jobs.map(job => results.splice(0, job.length));
      },
      { maxWeight: EMISSIONS_PER_BATCH, concurrency: BATCHES_AT_ONCE, weigh: job => job.length },
    );
  const [emitOrDefer, emitNow] = [emitter(true), emitter(false)];

  return async ({ job, attemptsStarted, updateJob }: EmissionsContext): Promise<Record<string, unknown>> => {
    const emit = attemptsStarted > MAX_DEFERRALS ? emitNow : emitOrDefer;
    const results = await emit(emissionsIn(job)).catch(async (error: unknown) => {
      // Keeps the event ids that were given. If Redis is away too, it remembers them for a while.
      await updateJob(job).catch(() => undefined);
      throw error;
    });
    const emitted = results.filter(result => result !== null);
    const isDone = !emitted.some(({ deferred }) => deferred);
    // If this fails, the count is corrected once the account is silent.
    if (job.counted && isDone) {
      void countEmissionBytes(platform, job.counted[0], -job.counted[1]).catch(() => undefined);
    }
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

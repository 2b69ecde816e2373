import { gather, IN_COMPANY } from "../lib/batcher.ts";
import { notFound } from "../lib/errors.ts";
import type { StoredEvent } from "../models/event.ts";
import { type Emission, type EmissionsJob, emissionsIn } from "../queues/emissions.ts";
import type { Work } from "../queues/run-worker.ts";
import { Postponed } from "../queues/snooze.ts";
import { openForgetTrimmed } from "./delete-trimmed.ts";
import { type EmitOutcome, emitAll } from "./emit.ts";
import type { EmitPlatform } from "./fan-out.ts";
import { storeEvents } from "./store.ts";

/** Emissions that go through the stores together: the stores' round trips are most of what one costs. */
const TOGETHER = 128;
/** As many as there are jobs: one that waits for its events to be stored keeps no other from being sent. */
const AT_ONCE = 16;
/** Events in one insert; and inserts under way, so that there is one to prepare while MongoDB does another. */
const STORED_TOGETHER = 500;
const STORED_AT_ONCE = 3;

/** By then who had the same emission in hand has stored it, or has died. */
const UNSURE_MS = 500;
const PATIENT_TIMES = 3;

type EmissionsWork = Pick<Work<EmissionsJob>, "job" | "begun" | "keep">;

/** What the emissions worker does with a job; jobs that come at the same time are worked off together. */
export function openEmissions(platform: EmitPlatform) {
  const forget = openForgetTrimmed(platform);
  const storeTogether = gather((batch: StoredEvent[][]) => storeEvents(platform, batch.flat()), {
    most: STORED_TOGETHER,
    atOnce: STORED_AT_ONCE,
    weigh: some => some.length,
    ...IN_COMPANY,
  });
  const store = async (events: StoredEvent[]) => {
    if (events.length > 0) await storeTogether(events);
  };
  const together = (patient: boolean) =>
    gather(
      async (jobs: Emission[][]) => {
        const outcomes = await emitAll(platform, jobs.flat(), { patient, forget, store });
        return jobs.map(job => outcomes.splice(0, job.length));
      },
      { most: TOGETHER, atOnce: AT_ONCE, weigh: job => job.length },
    );
  const [patiently, atAnyRate] = [together(true), together(false)];

  return async ({ job, begun, keep }: EmissionsWork): Promise<EmitOutcome> => {
    const emit = begun > PATIENT_TIMES ? atAnyRate : patiently;
    const outcomes = await emit(emissionsIn(job)).catch(async (error: unknown) => {
      // With the event ids that they were given. Where Redis is away too, it remembers them for a while.
      await keep(job).catch(() => undefined);
      throw error;
    });
    const emitted = outcomes.filter(outcome => outcome !== null);
    const [first] = emitted;
    if (!first) throw notFound("emitter");
    if (emitted.some(({ unsure }) => unsure)) throw new Postponed(UNSURE_MS, first);
    if (outcomes.length === 1) return first;
    return {
      emitter_id: first.emitter_id,
      events: emitted.length,
      first_event_id: first.event_id,
      last_event_id: emitted.at(-1)?.event_id,
      listeners: emitted.reduce((sum, { listeners }) => sum + Number(listeners), 0),
      ...(emitted.length < outcomes.length && { emitter_gone: outcomes.length - emitted.length }),
    };
  };
}

import { notFound } from "../errors.ts";
import { gather } from "../gather.ts";
import { type Emission, type EmissionsJob, emissionsIn } from "../queues/emissions.ts";
import { Postponed } from "../queues/postponed.ts";
import type { Work } from "../queues/run-worker.ts";
import { type EmitOutcome, emitAll } from "./emit.ts";
import type { EmitPlatform } from "./fan-out.ts";

/** Emissions that go through the stores together: the stores' round trips are most of what one costs. */
const TOGETHER = 128;
/** While one batch waits for MongoDB, another is prepared. */
const AT_ONCE = 3;

/** By then who had the same emission in hand has stored it, or has died. */
const UNSURE_MS = 500;
const PATIENT_TIMES = 3;

/** What the emissions worker does with a job; jobs that come at the same time are worked off together. */
export function openEmissions(platform: EmitPlatform) {
  const together = (patient: boolean) =>
    gather(
      async (jobs: Emission[][]) => {
        const outcomes = await emitAll(platform, jobs.flat(), patient);
        return jobs.map(job => outcomes.splice(0, job.length));
      },
      { most: TOGETHER, atOnce: AT_ONCE, weigh: job => job.length },
    );
  const [patiently, atAnyRate] = [together(true), together(false)];

  return async ({ job, begun }: Pick<Work<EmissionsJob>, "job" | "begun">): Promise<EmitOutcome> => {
    const outcomes = await (begun > PATIENT_TIMES ? atAnyRate : patiently)(emissionsIn(job));
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

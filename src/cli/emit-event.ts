import { findEmitter } from "../events/find.ts";
import { AppError } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import type { Queued, Stores } from "../platform.ts";
import { enqueue } from "../queues/define-queue.ts";
import { type Emission, emissionProblem, emissions } from "../queues/emissions.ts";

/**
 * Enqueues an event of a workflow or source and returns its emit id, a new one unless given. Throws AppError `invalid`
 * that names the field, `not-found` for the emitter, and `unavailable`.
 */
export async function emit(
  platform: Stores & Queued,
  { emit_id = newId("emit"), ...event }: Omit<Emission, "emit_id"> & { emit_id?: string | undefined },
): Promise<{ emit_id: string }> {
  const emission: Emission = { emit_id, ...event };
  const problem = emissionProblem(emission);
  if (problem !== undefined) throw new AppError("invalid", problem);
  if (!(await findEmitter(platform, event.emitter_id))) {
    throw new AppError("not-found", `emitter ${event.emitter_id} not found`);
  }
  await platform.replicas.confirmed(() => enqueue(platform.queues, emissions.jobs.emissions, emission));
  return { emit_id };
}

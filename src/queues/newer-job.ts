import type { Job } from "bullmq";
import { type AnyQueue, type JobDeclaration, versionIn } from "./define-queue.ts";

type Declared = Pick<AnyQueue, "name"> & { jobs: Record<string, Pick<JobDeclaration, "reads">> };

/**
 * Returns what this release does not know of a job, which a newer one enqueued; undefined for a job that it can handle. The only
 * kind of a queue has jobs of any name, because producers of others name them freely.
 */
export function whatIsNewer({ name, jobs }: Declared, job: Pick<Job, "name" | "opts">): string | undefined {
  const kinds = Object.keys(jobs);
  const kind = kinds.length === 1 ? (kinds[0] ?? "") : job.name;
  const declared = Object.hasOwn(jobs, kind) ? jobs[kind] : undefined;
  if (!declared) return `this release has no jobs named ${job.name} on queue ${name}`;
  const v = versionIn(job.opts);
  return v > declared.reads ? `version ${v} of ${kind} is newer than ${declared.reads}` : undefined;
}

import type { Job } from "bullmq";
import { AppError, type ErrorCode } from "../lib/errors.ts";

/** Thrown by a handler that can't finish its job now: the job comes back after a delay, and no attempt is used up. */
export class Snooze extends Error {
  readonly delayMs: number;
  /** Fields for the job's log line. */
  readonly fields: Record<string, unknown>;
  constructor(delayMs: number, fields: Record<string, unknown>) {
    super(`snoozed for ${delayMs} ms`);
    this.name = "Snooze";
    this.delayMs = delayMs;
    this.fields = fields;
  }
}

type Verdict = "done" | "failed" | "retried" | "snoozed";

/** What an expected error means for its job. Any other error is retried by the queue's back-off. */
const VERDICTS: Partial<Record<ErrorCode, Verdict>> = {
  // Not the job's fault: it uses up no attempt, so that no outage, however long, fails a job.
  unavailable: "snoozed",
  invalid: "failed",
  unauthenticated: "failed",
  forbidden: "failed",
  "limit-reached": "failed",
  "too-large": "failed",
  "not-found": "done",
  conflict: "done",
};

/** Returns what an error that a handler threw means for its job. */
export const verdictOf = (error: unknown): Verdict =>
  error instanceof AppError ? (VERDICTS[error.code] ?? "retried") : "retried";

/** Pauses between checks whether a store is back: short at first, and never so long that its return goes unnoticed. */
const SNOOZE_MS = { first: 500, most: 15_000 };

/**
 * The same for jobs that only workers of a newer release know: a deployment takes minutes, and a hundred thousand of them must not
 * keep the workers of this release busy.
 */
export const NEWER_MS = { first: 1000, most: 30_000 };

/** How long a job that comes back waits, in milliseconds; null for one that failed. */
export function snoozeMs(error: unknown, job: Job): number | null {
  if (error instanceof Snooze) return error.delayMs;
  if (verdictOf(error) !== "snoozed") return null;
  return pauseMs(SNOOZE_MS, job);
}

/** Grows with each start of the job, and is spread, so that not all jobs come back at once. */
export function pauseMs({ first, most }: { first: number; most: number }, { attemptsStarted }: Job): number {
  const ms = Math.min(first * 2 ** Math.min(attemptsStarted - 1, 10), most);
  return ms * (0.5 + Math.random() / 2);
}

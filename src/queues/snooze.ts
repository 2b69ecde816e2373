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

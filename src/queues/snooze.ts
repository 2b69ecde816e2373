/** Thrown by a handler that could not do all of its job now: the job comes again, and no attempt is used up. */
export class Postponed extends Error {
  readonly delayMs: number;
  /** For the job's log line. */
  readonly fields: Record<string, unknown>;
  constructor(delayMs: number, fields: Record<string, unknown>) {
    super(`postponed for ${delayMs} ms`);
    this.name = "Postponed";
    this.delayMs = delayMs;
    this.fields = fields;
  }
}

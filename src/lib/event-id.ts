/** Event ids in one millisecond; beyond that the next millisecond's are used. Keeps scores below 2^53 until 2248. */
export const SLOTS_PER_MS = 1024;

/** Returns the event id, `<epoch_milliseconds>-<sequence>`, of a score. */
export function eventIdOf(score: number): string {
  return `${Math.floor(score / SLOTS_PER_MS)}-${score % SLOTS_PER_MS}`;
}

/** Returns the Unix milliseconds of an event id. */
export function eventMs(eventId: string): number {
  return Number.parseInt(eventId, 10);
}

/**
 * Returns the score by which event ids are ordered; null if the text is not an event id. A sequence beyond the slots sorts
 * after all events of its millisecond, so that any well-formed id may bound a range.
 */
export function eventScore(eventId: string): number | null {
  const match = /^([0-9]{1,13})-([0-9]{1,10})$/.exec(eventId);
  if (!match) return null;
  return Number(match[1]) * SLOTS_PER_MS + Math.min(Number(match[2]), SLOTS_PER_MS - 1);
}

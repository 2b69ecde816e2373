import { gatherLater } from "../lib/batcher.ts";
import { eventScore } from "../lib/event-id.ts";
import { groupBy } from "../lib/group-by.ts";
import { StoredEvents } from "../models/event.ts";
import type { Platform } from "../platform.ts";

/** Events that fell out of their stream, whose payload may stand in MongoDB. */
export interface Trimmed {
  emitterId: string;
  eventIds: string[];
}

/** Deletes payloads that were kept only for their summary. */
export async function forgetTrimmed(platform: Pick<Platform, "mongo">, trimmed: Trimmed[]): Promise<void> {
  if (trimmed.length === 0) return;
  const of = groupBy(trimmed, ({ emitterId }) => emitterId);
  await StoredEvents(platform.mongo).deleteMany({
    $or: [...of].map(([emitter_id, all]) => ({
      emitter_id,
      score: { $in: all.flatMap(({ eventIds }) => eventIds.map(id => eventScore(id) ?? -1)) },
      delivered: false,
    })),
  });
}

/**
 * As `forgetTrimmed`, a little later and for many at once: a payload without its summary is out of reach. Never throws.
 */
export function openForgetTrimmed(platform: Pick<Platform, "mongo" | "log">): (trimmed: Trimmed[]) => void {
  return gatherLater(
    trimmed => forgetTrimmed(platform, trimmed),
    error => platform.log.debug({ err: error }, "payloads of trimmed events go by their age"),
    ({ eventIds }) => eventIds.length,
  );
}

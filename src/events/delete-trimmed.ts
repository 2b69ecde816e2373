import { createDeferredBatcher } from "../lib/batcher.ts";
import { eventScore } from "../lib/event-id.ts";
import { groupBy } from "../lib/group-by.ts";
import { StoredEvents } from "../models/event.ts";
import type { Platform } from "../platform.ts";

/** Events that were trimmed from their stream and whose payload may be in MongoDB. */
export interface TrimmedEvents {
  emitterId: string;
  eventIds: string[];
}

/** Deletes payloads that were kept only for their summary. */
export async function deleteTrimmed(
  platform: Pick<Platform, "mongo">,
  trimmed: TrimmedEvents[],
): Promise<void> {
  if (trimmed.length === 0) return;
  const byEmitter = groupBy(trimmed, ({ emitterId }) => emitterId);
  await StoredEvents(platform.mongo).deleteMany({
    $or: [...byEmitter].map(([emitter_id, all]) => ({
      emitter_id,
      score: { $in: all.flatMap(({ eventIds }) => eventIds.map(id => eventScore(id) ?? -1)) },
      has_webhook_listeners: false,
      has_caller_id: { $ne: true },
    })),
  });
}

/** As `deleteTrimmed`, a little later and many at once: a payload without its summary can't be read. Never throws. */
export function openDeleteTrimmed(
  platform: Pick<Platform, "mongo" | "log">,
): (trimmed: TrimmedEvents[]) => void {
  return createDeferredBatcher(
    trimmed => deleteTrimmed(platform, trimmed),
    error => platform.log.debug({ err: error }, "payloads of trimmed events are left to their expiry"),
    ({ eventIds }) => eventIds.length,
  );
}

import { gather } from "../gather.ts";
import { groupBy } from "../group-by.ts";
import type { Platform } from "../platform.ts";
import { eventScore } from "../store/event-id.ts";
import { StoredEvents } from "./model.ts";

/** Events that fell out of their stream, whose payload may stand in MongoDB. */
export interface Trimmed {
  emitterId: string;
  eventIds: string[];
}

type Stores = Pick<Platform, "mongo" | "log">;

/** Not urgent: a payload without its summary is out of reach, and goes by itself after its time. */
const DELAY_MS = 500;
const MOST = 1000;

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

/** As `forgetTrimmed`, a little later and for many at once. Never throws. */
export function openForgetTrimmed(platform: Stores): (trimmed: Trimmed[]) => void {
  const forget = gather(
    async (batch: Trimmed[][]) => {
      await forgetTrimmed(platform, batch.flat());
      return batch.map(() => undefined);
    },
    {
      most: MOST,
      weigh: all => all.reduce((sum, { eventIds }) => sum + eventIds.length, 0),
      delayMs: DELAY_MS,
    },
  );
  return trimmed => {
    if (trimmed.length === 0) return;
    forget(trimmed).catch((error: unknown) =>
      platform.log.debug({ err: error }, "payloads of trimmed events go by their age"),
    );
  };
}

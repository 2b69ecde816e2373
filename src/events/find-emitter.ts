import type { Platform } from "../platform.ts";
import { Sources } from "../sources/model.ts";
import type { Emitter } from "../subscriptions/match.ts";
import { Workflows } from "../workflows/model.ts";

/** The source or workflow behind an emitter id; null when there is none (any more). */
export async function findEmitter(
  platform: Pick<Platform, "mongo">,
  emitterId: string,
): Promise<Emitter | null> {
  const found = emitterId.startsWith("p_")
    ? await Workflows(platform.mongo).findById(emitterId, { owner_id: 1 }).lean()
    : await Sources(platform.mongo).findById(emitterId, { owner_id: 1 }).lean();
  return found && { id: emitterId, owner_id: found.owner_id };
}

import { type AccessLost, accessLost } from "../accounts/access-lost.ts";
import type { Source } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { findSource } from "./find-source.ts";

/**
 * Returns why an open stream of a source's events must end, as the same request would be rejected now; null if it may go
 * on (docs/design.md#guarantee-6).
 */
export async function whyStreamEnded(
  platform: Pick<Platform, "mongo" | "clock">,
  keyId: string,
  { _id, owner_id }: Pick<Source, "_id" | "owner_id">,
): Promise<AccessLost | "source-deleted" | null> {
  const lost = await accessLost(platform, keyId, owner_id);
  if (lost !== null) return lost;
  return (await findSource(platform, _id, [owner_id])) === null ? "source-deleted" : null;
}

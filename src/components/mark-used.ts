import type { ClientSession } from "mongoose";
import { AppError } from "../lib/errors.ts";
import { Components } from "../models/component.ts";
import type { Platform } from "../platform.ts";
import { transaction } from "../store/mongo.ts";

/**
 * Marks a component as used, so that a deletion of it at the same moment conflicts with `session`. Throws `conflict`
 * if the component has been deleted.
 */
export async function markComponentUsed(
  platform: Pick<Platform, "mongo" | "clock">,
  componentId: string,
  session: ClientSession,
): Promise<void> {
  const { matchedCount } = await Components(platform.mongo).updateOne(
    { _id: componentId },
    { $set: { used_at_ms: platform.clock() } },
    { session },
  );
  if (matchedCount === 0) throw new AppError("conflict", "the component was deleted by another request");
}

/**
 * Makes a change that uses a component, if any, in one transaction with marking it used. Throws as `markComponentUsed` does.
 */
export async function usingComponent<Result>(
  platform: Pick<Platform, "mongo" | "clock">,
  componentId: string | undefined,
  change: (session: ClientSession | null) => Promise<Result>,
): Promise<Result> {
  if (componentId === undefined) return await change(null);
  return await transaction(platform.mongo, async session => {
    await markComponentUsed(platform, componentId, session);
    return await change(session);
  });
}

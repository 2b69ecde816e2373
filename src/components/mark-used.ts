import type { ClientSession } from "mongoose";
import { markConnectionsUsed } from "../connections/check.ts";
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

/** What a destination runs: a component with connections. */
export interface Uses {
  componentId: string;
  connectionIds: string[];
  /** Those of the connections that the present change names. */
  named: string[];
}

/**
 * Makes a change in one transaction with marking what it uses, if anything. Throws `conflict` if that has been deleted.
 */
export async function withUses<Result>(
  platform: Pick<Platform, "mongo" | "clock">,
  uses: Uses | undefined,
  change: (options: { session?: ClientSession }) => Promise<Result>,
): Promise<Result> {
  if (!uses) return await change({});
  return await transaction(platform.mongo, async session => {
    await markComponentUsed(platform, uses.componentId, session);
    // Those it has already may have been deleted although they are used.
    await markConnectionsUsed(platform, uses.named, session);
    return await change({ session });
  });
}

/** Returns the fields of a document that name what it uses. */
export const fieldsOfUses = (uses: Uses | undefined) =>
  uses && { component_id: uses.componentId, connection_ids: uses.connectionIds };

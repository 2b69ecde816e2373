import { failpoint } from "../lib/failpoint.ts";
import type { Accepted } from "../models/accepted.ts";
import type { Platform } from "../platform.ts";
import { deleteKept, keep } from "./keep.ts";

type Row = Pick<Accepted, "_id" | "kind" | "owner_id" | "source_id" | "body">;

/**
 * Stores rows in MongoDB, and then calls `enqueue`; if that fails, nothing was accepted, and the rows are deleted. Throws as
 * `enqueue` does, and `unavailable`. `stored` is the failpoint in between.
 */
export async function withKept<T>(
  platform: Pick<Platform, "mongo" | "config" | "clock">,
  rows: Row[],
  stored: string,
  enqueue: () => Promise<T>,
): Promise<T> {
  const at_ms = platform.clock();
  await keep(
    platform,
    rows.map(row => ({ ...row, at_ms })),
  );
  failpoint(stored);
  try {
    return await enqueue();
  } catch (error) {
    const ids = rows.map(({ _id }) => _id);
    await deleteKept(platform, ids).catch(() => undefined);
    throw error;
  }
}

import { notFound } from "../../lib/errors.ts";
import { Apps } from "../../models/app.ts";
import { Connections } from "../../models/connection.ts";
import type { Platform } from "../../platform.ts";
import { appInRouting } from "../events/find-rules.ts";

/**
 * Deletes an app. Its connections stay, and fail when their tokens end. Returns how many there are. Throws `not-found`.
 */
export async function deleteApp(
  { mongo, routing }: Pick<Platform, "mongo" | "routing">,
  slug: string,
): Promise<{ slug: string; connections: number }> {
  const { deletedCount } = await Apps(mongo).deleteOne({ _id: slug });
  if (deletedCount === 0) throw notFound("app");
  await routing.invalidate([appInRouting(slug)]);
  return { slug, connections: await Connections(mongo).countDocuments({ app: slug, kind: "oauth2" }) };
}

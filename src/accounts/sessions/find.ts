import { type Session, Sessions } from "../../models/session.ts";
import type { Platform } from "../../platform.ts";
import { type Page, type PageRequest, pageOf } from "../../store/page.ts";

type Deps = Pick<Platform, "mongo" | "clock">;

const live = (platform: Deps) => ({ expires_at: { $gt: new Date(platform.clock()) } });

/** Returns a page of a user's sessions, newest first. */
export function listSessions(platform: Deps, userId: string, page: PageRequest): Promise<Page<Session>> {
  return pageOf(Sessions(platform.mongo), { user_id: userId, ...live(platform) }, page);
}

/** Returns a session of one of these users, otherwise null. */
async function findSession(platform: Deps, id: string, owners: string[]): Promise<Session | null> {
  return await Sessions(platform.mongo)
    .findOne({ _id: id, user_id: { $in: owners }, ...live(platform) })
    .lean<Session | null>();
}

/** The access rule of routes whose path names a session. */
export const ownSession = { kind: "resource", what: "session", load: findSession } as const;

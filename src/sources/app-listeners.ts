import { LIMITS } from "../limits/catalogue.ts";
import type { Connection } from "../models/connection.ts";
import { type AppEvents, type Source, Sources } from "../models/source.ts";
import type { Platform } from "../platform.ts";

/** A source that listens to the events of a connection. */
export interface AppListener extends Pick<Source, "_id" | "owner_id"> {
  app_events: AppEvents;
}

/** More than the bound permits, because it is checked without a lock. */
const MOST = LIMITS.appEventListeners.value * 2;

/**
 * Returns the active sources that listen to an event of these names at a connection. From the routing cache, which the
 * caller has refreshed: a source that was disabled, deleted or changed before that is not among them.
 */
export async function appListenersOf(
  { mongo, routing }: Pick<Platform, "mongo" | "routing">,
  { _id, owner_id }: Pick<Connection, "_id" | "owner_id">,
  names: ReadonlySet<string>,
): Promise<AppListener[]> {
  const found = await routing.lookUp(
    "app-listeners",
    [_id],
    async () => {
      const listening = { connection_ids: _id, "app_events.connection_id": _id, owner_id };
      const sources = Sources(mongo)
        .find({ ...listening, active: true, state: "ready" }, { owner_id: 1, app_events: 1 })
        .limit(MOST);
      return new Map([[_id, await sources.lean<AppListener[]>()]]);
    },
    () => [owner_id],
    sources => sources.reduce((sum, { app_events }) => sum + (app_events.names?.join().length ?? 0), 0),
  );
  const listensTo = ({ app_events }: AppListener) => app_events.names?.some(name => names.has(name)) ?? true;
  return (found.get(_id) ?? []).filter(listensTo);
}

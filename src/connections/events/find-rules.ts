import { type AppEventRules, Apps } from "../../models/app.ts";
import type { Connection } from "../../models/connection.ts";
import type { Platform } from "../../platform.ts";

type WithRules = Pick<Connection, "app" | "events">;

/** Returns by which rules the requests of a connection's app are read: its own, else the operator's, else none. */
export const readEventRules = async (
  { mongo }: Pick<Platform, "mongo">,
  { app, events }: WithRules,
): Promise<AppEventRules> => events ?? (await Apps(mongo).findById(app, { events: 1 }).lean())?.events ?? {};

/** What a change of an app's rules concerns in the routing cache: no account, but all connections of the app. */
export const appInRouting = (app: string): string => `app:${app}`;

/** As `readEventRules`, from the routing cache, which the caller has refreshed. */
export async function cachedEventRules(
  platform: Pick<Platform, "mongo" | "routing">,
  connection: WithRules,
): Promise<AppEventRules> {
  if (connection.events) return connection.events;
  const { app } = connection;
  const find = async () => new Map([[app, await readEventRules(platform, connection)]]);
  const found = await platform.routing.lookUp("app-events", [app], find, () => [appInRouting(app)]);
  return found.get(app) ?? {};
}

import { LIMITS } from "../../limits/catalogue.ts";
import { Apps } from "../../models/app.ts";
import type { Platform } from "../../platform.ts";
import type { AppView } from "../schema.ts";

/** Returns the apps that accounts can connect, by name, without anything that is the operator's. */
export async function listApps({ mongo }: Pick<Platform, "mongo">): Promise<AppView[]> {
  const apps = await Apps(mongo)
    .find({}, { name: 1, scopes: 1, events: 1 })
    .sort({ _id: 1 })
    .limit(LIMITS.apps.value)
    .lean();
  return apps
    .map(({ _id, name, scopes, events }) => ({
      ...{ slug: _id, name, scopes: scopes.split(" ").filter(Boolean) },
      events: events ?? null,
    }))
    .sort((a, b) => a.name.localeCompare(b.name));
}

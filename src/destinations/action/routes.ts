import { configuredRoutes } from "../../components/configure/routes.ts";
import { type Destination, Webhooks } from "../../models/webhook.ts";
import type { Stores } from "../../platform.ts";
import { openSettings } from "../kind.ts";
import { type ActionSettings, findComponent } from "./settings.ts";

/** What the form of an action asks its component (docs/rest-api.md#destinations). */
export const actionRoutes = configuredRoutes({
  path: "/destinations/{id}",
  tag: "Destinations",
  noun: "an action",
  hidden: "secrets and credentials",
  access: { kind: "resource", what: "action", load: findAction },
  exampleId: "ac_0CjBAhD9sK2mV7tX",
  open: async (platform, destination) => {
    const settings = openSettings<ActionSettings>(platform.secrets, destination);
    return {
      ownerId: destination.owner_id,
      component: await findComponent(platform, settings.component_id),
      values: settings.configured_props,
      dynamic: settings.dynamic ?? null,
    };
  },
});

/** Returns an action of one of these owners, otherwise null, for another kind of destination too (docs/design.md#guarantee-6). */
function findAction({ mongo }: Stores, id: string, owners: string[]): Promise<Destination | null> {
  return Webhooks(mongo)
    .findOne({ _id: id, owner_id: { $in: owners }, kind: "action" })
    .lean<Destination | null>();
}

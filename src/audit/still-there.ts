import type { Connection } from "mongoose";
import { groupBy } from "../lib/lists.ts";
import { Components } from "../models/component.ts";
import { Connections } from "../models/connection.ts";
import { Deliveries } from "../models/delivery.ts";
import { Sources } from "../models/source.ts";
import { Subscriptions } from "../models/subscription.ts";
import { Webhooks } from "../models/webhook.ts";
import { Workflows } from "../models/workflow.ts";

type Find = (mongo: Connection, ids: string[]) => Promise<{ _id: string }[]>;

const among = (ids: string[]) => ({ _id: { $in: ids } });

const webhooks: Find = (mongo, ids) => Webhooks(mongo).find(among(ids), { _id: 1 }).lean();

/** What finds things of a kind by their ids. */
const FINDS: Readonly<Record<string, Find>> = {
  component: (mongo, ids) => Components(mongo).find(among(ids), { _id: 1 }).lean(),
  source: (mongo, ids) =>
    Sources(mongo)
      .find({ ...among(ids), state: "ready" }, { _id: 1 })
      .lean(),
  workflow: (mongo, ids) => Workflows(mongo).find(among(ids), { _id: 1 }).lean(),
  subscription: (mongo, ids) => Subscriptions(mongo).find(among(ids), { _id: 1 }).lean(),
  webhook: webhooks,
  destination: webhooks,
  mcp_subscription: webhooks,
  connection: (mongo, ids) => Connections(mongo).find(among(ids), { _id: 1 }).lean(),
  delivery: (mongo, ids) => Deliveries(mongo).find(among(ids), { _id: 1 }).lean(),
};

/**
 * Returns the ids of those things that are still there; of no other kinds than these. Not by the form of an id: that of an event is
 * its publisher's choice, and may be that of another account's webhook.
 */
export async function findStillThere(
  mongo: Connection,
  things: { kind: string; id: string }[],
): Promise<ReadonlySet<string>> {
  const found = await Promise.all(
    [...groupBy(things, ({ kind }) => kind)].map(([kind, some]) => {
      const ids = [...new Set(some.map(({ id }) => id))];
      return FINDS[kind]?.(mongo, ids) ?? [];
    }),
  );
  return new Set(found.flat().map(({ _id }) => _id));
}

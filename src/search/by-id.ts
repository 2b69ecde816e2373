import type { Model, QueryFilter } from "mongoose";
import { hasExpired } from "../accounts/api-keys.ts";
import type { IdPrefix } from "../lib/ids.ts";
import { Replays } from "../models/replay.ts";
import { RunRecords } from "../models/run.ts";
import { Sources } from "../models/source.ts";
import { AutoSubscriptions, Subscriptions } from "../models/subscription.ts";
import { type ApiKey, ApiKeys } from "../models/user.ts";
import type { Stores } from "../platform.ts";
import { endpointIn } from "../sources/source.ts";
import { beginningWith, containing } from "../store/text-filter.ts";
import {
  type Draft,
  type Found,
  mayBeId,
  options,
  owned,
  RANK,
  READ,
  rankOfId,
  type Search,
} from "./draft.ts";
import { showSource } from "./resources.ts";
import { scan } from "./scan.ts";

const NOTHING: Found = { drafts: [] };

/** Finds subscriptions, auto subscriptions and replays by their ids, which the index of their account has. */
export async function findOwned({ mongo }: Stores, { q, owners }: Search): Promise<Found> {
  const read = <Row>(model: Model<Row>, prefix: IdPrefix): Promise<Row[]> | Row[] => {
    if (!mayBeId(q, [prefix])) return [];
    const filter = { owner_id: { $in: owners }, _id: beginningWith(q) } as QueryFilter<Row>;
    return model.find(filter, null, options).sort({ _id: -1 }).limit(READ).lean<Row[]>();
  };
  const [subscriptions, autoSubscriptions, replays] = await Promise.all([
    read(Subscriptions(mongo), "sub"),
    read(AutoSubscriptions(mongo), "asub"),
    read(Replays(mongo), "rpl"),
  ]);
  const common = (row: { _id: string; owner_id: string; created_at: number }) => ({
    ...owned(row),
    rank: rankOfId(row._id, q),
    at_ms: row.created_at * 1000,
  });
  return {
    drafts: [
      ...subscriptions.map(
        (row): Draft => ({
          kind: "subscription",
          ...common(row),
          name: { of: [row.emitter_id, row.listener_id] },
          detail: row.event_name,
          state: null,
        }),
      ),
      ...autoSubscriptions.map(
        (row): Draft => ({
          kind: "auto_subscription",
          ...common(row),
          name: { of: [row.listener_id] },
          detail: row.event_name,
          state: null,
        }),
      ),
      ...replays.map(
        (row): Draft => ({ kind: "replay", ...common(row), name: null, detail: null, state: row.state }),
      ),
    ],
  };
}

/** Finds the API keys of the user, of which there are few (docs/limits.md), by id, name, or how the key itself begins. */
export async function findKeys(platform: Stores, { q, owners, userId }: Search): Promise<Found> {
  if (!owners.includes(userId)) return NOTHING;
  const wanted = mayBeId(q, ["key"]) ? { _id: beginningWith(q) } : containing<ApiKey>(q, ["name"]);
  const rows = await ApiKeys(platform.mongo)
    .find({ user_id: userId, ...wanted }, { hash: 0 }, options)
    .sort({ _id: -1 })
    .limit(READ)
    .lean();
  return {
    drafts: rows.map(key => ({
      kind: "api_key",
      id: key._id,
      name: key.name ?? null,
      detail: key.prefix ?? null,
      state: stateOfKey(platform, key),
      at_ms: key.created_at * 1000,
      rank: key._id.startsWith(q) ? rankOfId(key._id, q) : RANK.nameContains,
    })),
  };
}

function stateOfKey(platform: Stores, key: Pick<ApiKey, "revoked_at" | "expires_at">): string {
  if (key.revoked_at !== null) return "revoked";
  return hasExpired(platform, key) ? "expired" : "valid";
}

/** Finds runs by their ids. */
export async function findRuns({ mongo }: Stores, search: Search): Promise<Found> {
  if (!mayBeId(search.q, ["run"])) return NOTHING;
  const fields = { owner_id: 1, source_id: 1, kind: 1, outcome: 1, finished_at: 1 };
  const { rows, isPartial } = await scan(RunRecords(mongo), search, fields);
  return {
    drafts: rows
      // A further part of an outbox is not a run.
      .filter(({ _id }) => !_id.includes("~"))
      .map(row => ({
        kind: "run",
        ...owned(row),
        name: { of: [row.source_id] },
        detail: row.kind,
        state: row.outcome,
        source_id: row.source_id,
        at_ms: row.finished_at.getTime(),
        rank: rankOfId(row._id, search.q),
      })),
    isPartial,
  };
}

/** Finds the source that has an endpoint, by its address. */
export async function findByEndpoint({ mongo }: Stores, { q, owners }: Search): Promise<Found> {
  const endpoint = endpointIn(q);
  if (endpoint === undefined) return NOTHING;
  const row = await Sources(mongo)
    .findOne(
      { endpoint, owner_id: { $in: owners }, state: "ready" },
      { owner_id: 1, name: 1, name_slug: 1, active: 1, created_at: 1 },
      options,
    )
    .lean();
  if (!row) return NOTHING;
  const { name, created_at } = row;
  const draft = {
    kind: "source",
    ...owned(row),
    name,
    ...showSource(row),
    at_ms: created_at * 1000,
  } as const;
  return { drafts: [{ ...draft, rank: RANK.url }] };
}

import type { Connection, Model, QueryFilter } from "mongoose";
import type { IdPrefix } from "../lib/ids.ts";
import { Components } from "../models/component.ts";
import { Connections } from "../models/connection.ts";
import { type Source, Sources } from "../models/source.ts";
import { MCP_IDS, type Webhook, Webhooks } from "../models/webhook.ts";
import { Workflows } from "../models/workflow.ts";
import type { Stores } from "../platform.ts";
import { beginningWith, containing } from "../store/text-filter.ts";
import {
  type Draft,
  type Found,
  mayBeId,
  options,
  owned,
  RANK,
  type Rank,
  READ,
  rankOfId,
  type Search,
} from "./draft.ts";
import type { Kind } from "./schema.ts";

interface Named {
  _id: string;
  owner_id: string;
  name: string | null;
  created_at: number;
}

/** A kind of thing that has a name: how it is found, and what a line says of it. */
interface Description<Row extends Named> {
  kind: Kind;
  prefixes: IdPrefix[];
  model: (mongo: Connection) => Model<Row>;
  /** The name of the index that has the rows of an account in order. */
  index?: string;
  /** Which rows of the model are of the kind. */
  where?: QueryFilter<Row>;
  /** What a text may be in, besides the name: under `url` what is shown as address. */
  also?: (keyof Row & string)[];
  url?: keyof Row & string;
  show: (row: Row) => Pick<Draft, "detail" | "state">;
  /** The fields that `show` reads. */
  reads: (keyof Row & string)[];
}

const BY_OWNER = "owner_id_1__id_-1";

type Finder = (platform: Stores, search: Search) => Promise<Found>;

/** A kind as the search asks it. */
export interface Resource {
  findById: Finder;
  findByText: Finder;
}

function resource<Row extends Named>(description: Description<Row>): Resource {
  const { kind, prefixes, model, index = BY_OWNER, where = {}, also = [], url, show, reads } = description;
  const fields: (keyof Row & string)[] = ["name", ...also, ...(url === undefined ? [] : [url])];
  const projection = Object.fromEntries(
    ["owner_id", "created_at", ...fields, ...reads].map(name => [name, 1]),
  );
  const read = async ({ mongo }: Stores, { q, owners }: Search, wanted: object): Promise<Found> => {
    const rows = await model(mongo)
      .find({ owner_id: { $in: owners }, $and: [where, wanted] } as QueryFilter<Row>, projection, options)
      .sort({ _id: -1 })
      .hint(index)
      .limit(READ)
      .lean<Row[]>();
    const drafts = rows.map(row => ({
      kind,
      ...owned(row),
      name: row.name,
      ...show(row),
      at_ms: row.created_at * 1000,
      rank: rankOf(row, q, url),
    }));
    return { drafts };
  };
  return {
    findById: async (platform, search) =>
      mayBeId(search.q, prefixes)
        ? await read(platform, search, { _id: beginningWith(search.q) })
        : { drafts: [] },
    findByText: (platform, search) => read(platform, search, containing<Row>(search.q, fields)),
  };
}

function rankOf<Row extends Named>(row: Row, q: string, url: (keyof Row & string) | undefined): Rank {
  if (row._id.startsWith(q)) return rankOfId(row._id, q);
  const text = q.toLowerCase();
  const name = row.name?.toLowerCase() ?? "";
  if (name === text) return RANK.name;
  if (name.startsWith(text)) return RANK.nameBegins;
  const address = url === undefined ? null : (row[url] as string | null);
  return !name.includes(text) && address?.toLowerCase().includes(text) ? RANK.url : RANK.nameContains;
}

const stateOf = ({
  active,
  failing_since_ms: since,
}: Pick<Webhook, "active" | "failing_since_ms">): string =>
  !active ? "disabled" : since === null ? "active" : "failing";

const receivers: Pick<Description<Webhook>, "model" | "url" | "reads" | "show"> = {
  model: Webhooks,
  url: "url",
  reads: ["active", "failing_since_ms"],
  show: row => ({ detail: row.url, state: stateOf(row) }),
};

/** What a line says of a source. */
export const showSource = ({ active, name_slug }: Pick<Source, "active" | "name_slug">) => ({
  detail: name_slug,
  state: active ? "active" : "inactive",
});

/** What is found by its name, in the order in which it is shown. */
export const RESOURCES: Resource[] = [
  resource({
    kind: "source",
    prefixes: ["dc"],
    model: Sources,
    index: "owner_id_1_state_1__id_-1",
    where: { state: "ready" },
    also: ["name_slug"],
    reads: ["active"],
    show: showSource,
  }),
  resource({ ...receivers, kind: "webhook", prefixes: ["wh"], where: { _id: { $gte: "wh_" } } }),
  resource({
    ...receivers,
    kind: "destination",
    prefixes: ["ds", "ac"],
    where: { _id: { $lt: MCP_IDS.$gt } },
  }),
  resource({
    kind: "workflow",
    prefixes: ["p"],
    model: Workflows,
    reads: [],
    show: () => ({ detail: null, state: null }),
  }),
  resource({
    kind: "component",
    prefixes: ["sc"],
    model: Components,
    also: ["key"],
    url: "component_url",
    reads: ["version"],
    show: ({ key, version }) => ({ detail: key === null ? version : `${key} ${version}`, state: null }),
  }),
  resource({
    kind: "connection",
    prefixes: ["apn"],
    model: Connections,
    also: ["app"],
    reads: ["health"],
    show: ({ app, health }) => ({ detail: app, state: health }),
  }),
];

import { randomBytes } from "node:crypto";
import type { Connection } from "mongoose";

type Json = Record<string, unknown>;

/** One kind of query: its collection and its filter without values, with one recorded command. */
export interface QueryShape {
  collection: string;
  name: string;
  filter: unknown;
  command: Json;
  /** The worst recorded plan. */
  plan: string;
  sortedInMemory: boolean;
  /** The maximum number of index entries or documents that were read in vain. */
  wasted: number;
}

interface Profiled {
  op: string;
  ns: string;
  command: Json;
  planSummary?: string;
  hasSortStage?: boolean;
  keysExamined?: number;
  docsExamined?: number;
  nreturned?: number;
  nMatched?: number;
  ndeleted?: number;
}

const wasteOf = ({
  keysExamined = 0,
  docsExamined = 0,
  nreturned = 0,
  nMatched = 0,
  ndeleted = 0,
}: Profiled) => Math.max(keysExamined, docsExamined) - Math.max(nreturned, nMatched, ndeleted);

const MB = 1024 * 1024;

const ID = /\b([a-z]+)_[A-Za-z0-9]{16}\b/g;
const random = (length: number) => randomBytes(length).toString("hex").slice(0, length);

/**
 * Returns the value as another account would have it: other ids, hashes and unique names, the same states and times.
 */
function foreign(key: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (UNIQUE.has(key) || /^[0-9a-f]{64}$/.test(value)) return random(Math.max(8, value.length));
  return value.replaceAll(ID, (_, prefix) => `${prefix}_${random(16)}`);
}
const UNIQUE = new Set(["email", "username", "orgname", "endpoint", "name_slug", "key"]);

/** Selects the row to copy in some collections, so that the copies cause no work. */
const QUIET: Record<string, Json> = {
  sources: { timer: null, state: "ready" },
  deliveries: { state: { $ne: "pending" } },
  runs: { outbox: { $exists: false } },
};

/** Adds `count` rows of other accounts to every collection, because a missing index does not show with few rows. */
export async function addForeignRows({ db, models }: Connection, count: number): Promise<void> {
  for (const name of Object.keys(models)) {
    const rows = db?.collection<Json & { _id: string }>(name);
    const row = await rows?.findOne(QUIET[name] ?? {});
    if (!row) continue;
    const copies = Array.from({ length: count }, () => {
      const copy = Object.fromEntries(Object.entries(row).map(([key, value]) => [key, foreign(key, value)]));
      return { ...copy, _id: `${foreign("_id", row._id)}`.replace(row._id, random(16)) };
    });
    await rows?.insertMany(copies);
  }
}

/** Starts to record every command to the connection's database. */
export async function recordQueries({ db }: Connection): Promise<void> {
  // The default of 1 MB is full within seconds.
  await db?.createCollection("system.profile", { capped: true, size: 256 * MB });
  await db?.command({ profile: 2 });
}

/** Commands that do not read documents by a filter. */
const WITHOUT_FILTER = new Set([
  ...[
    "insert",
    "getMore",
    "create",
    "createIndexes",
    "listIndexes",
    "listCollections",
    "dropDatabase",
    "drop",
  ],
  ...["profile", "explain", "commitTransaction", "abortTransaction", "killCursors", "collStats", "dbStats"],
]);

/** Returns the filter of a command, or null if it has none. Throws for an unknown command. */
function filterOf(name: string, command: Json): unknown {
  if (name === "find") return command.filter ?? {};
  if (name === "update" || name === "remove") return command.q ?? {};
  if (name === "count" || name === "distinct" || name === "findAndModify") return command.query ?? {};
  if (name === "aggregate") return (command.pipeline as Json[])[0]?.$match ?? command.pipeline;
  if (WITHOUT_FILTER.has(name)) return null;
  throw new Error(`${name}: add the location of its filter to test/contract/query-plans.ts`);
}

/** Returns a filter without its values, so that it is equal for filters that differ only in values. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    const shapes = value.map(shapeOf);
    return shapes.some(shape => typeof shape === "object") ? shapes : ["…"];
  }
  if (typeof value !== "object" || value === null) return "…";
  if (value.constructor !== Object) return "…";
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]));
}

const PROFILED_OPS: Record<string, string> = {
  query: "find",
  update: "update",
  remove: "remove",
  insert: "insert",
};

/** Stops recording and returns each kind of query once. */
export async function recordedShapes({ db }: Connection): Promise<QueryShape[]> {
  await db?.command({ profile: 0 });
  const shapes = new Map<string, QueryShape>();
  const entries = db?.collection<Profiled>("system.profile").find({ ns: { $not: /system\./ } });
  for await (const entry of entries ?? []) {
    const { op, ns, command, planSummary = "", hasSortStage = false } = entry;
    const name = op === "getmore" ? "getMore" : (PROFILED_OPS[op] ?? Object.keys(command)[0] ?? "");
    const filter = filterOf(name, command);
    if (filter === null) continue;
    const collection = ns.slice(ns.indexOf(".") + 1);
    const shape = { collection, name, filter: shapeOf(filter), command };
    const key = JSON.stringify([collection, name, shape.filter, command.sort ?? null]);
    const known = shapes.get(key);
    const wasted = wasteOf(entry);
    // One bad plan among many good ones counts.
    if (known && known.wasted >= wasted && !hasSortStage) continue;
    shapes.set(key, { ...shape, plan: planSummary, sortedInMemory: hasSortStage, wasted });
  }
  return [...shapes.values()];
}

const pick = (command: Json, ...names: string[]): Json =>
  Object.fromEntries(names.filter(name => command[name] !== undefined).map(name => [name, command[name]]));

/** Returns the command as `explain` accepts it, without session, cursor and similar fields. */
function explainable({ name, collection, command }: QueryShape): Json {
  switch (name) {
    case "update":
      return { update: collection, updates: [pick(command, "q", "u", "multi", "upsert")] };
    case "remove":
      return { delete: collection, deletes: [{ q: command.q, limit: command.limit ?? 0 }] };
    case "aggregate":
      return { aggregate: collection, ...pick(command, "pipeline", "hint"), cursor: {} };
    case "findAndModify":
      return {
        findAndModify: collection,
        ...pick(command, "query", "sort", "update", "remove", "new", "upsert"),
      };
    default:
      return {
        [name]: collection,
        ...pick(command, "filter", "sort", "projection", "limit", "key", "query", "hint", "min", "max"),
      };
  }
}

/** Returns the stages of the winning plan. */
function stagesOf(node: unknown): string[] {
  if (typeof node !== "object" || node === null) return [];
  if (Array.isArray(node)) return node.flatMap(stagesOf);
  return Object.entries(node).flatMap(([key, inner]) => {
    if (key === "rejectedPlans" || key === "command") return [];
    return key === "stage" ? [String(inner)] : stagesOf(inner);
  });
}

/** The deliveries of the events with a word, of which there is a bound (src/deliveries/select/by-text.ts). */
const isSortedByDesign = ({ collection, filter }: QueryShape): boolean =>
  collection === "deliveries" && JSON.stringify(filter).includes('"emit_id":{"$in"');

/** All entries of an account are counted and trimmed, of which there is a bound (`trimEntries`). */
const isReadByDesign = ({ collection, filter }: QueryShape): boolean =>
  collection === "audit_entries" && JSON.stringify(Object.keys(filter as object)) === '["owner_id"]';

/** A query may read some of the caller's own rows in vain, but none of other accounts, which are many more. */
const MAX_WASTED = 40;

/** Returns what is wrong with the plan of a query; empty if it uses an index. */
export async function faultsOfPlan({ db }: Connection, shape: QueryShape): Promise<string[]> {
  const explained = await db?.command({ explain: explainable(shape), verbosity: "queryPlanner" });
  const stages = stagesOf(explained);
  const { collection, name, filter, command } = shape;
  const sort = command.sort ? ` sorted by ${JSON.stringify(command.sort)}` : "";
  const query = `${collection}: ${name} ${JSON.stringify(filter)}${sort}`;
  const faults: string[] = [];
  if (shape.wasted > MAX_WASTED && !isReadByDesign(shape))
    faults.push(`${query} reads ${shape.wasted} in vain (${shape.plan})`);
  if (shape.plan.includes("COLLSCAN") || stages.includes("COLLSCAN")) {
    faults.push(`${query} scans the collection`);
  }
  if ((shape.sortedInMemory || stages.includes("SORT")) && !isSortedByDesign(shape))
    faults.push(`${query} sorts in memory`);
  return faults;
}

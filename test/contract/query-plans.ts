import { randomBytes } from "node:crypto";
import type { Connection } from "mongoose";

type Json = Record<string, unknown>;

/** One kind of query: its collection and its filter without the values, with one command that was really sent. */
export interface QueryShape {
  collection: string;
  name: string;
  filter: unknown;
  command: Json;
  /** How it was done then, at its worst. */
  plan: string;
  sortedInMemory: boolean;
  /** Index entries or documents that were looked at and not wanted, at most. */
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

/** Another account's: ids, hashes, addresses and unique names differ, states and times are the same. */
function foreign(key: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (UNIQUE.has(key) || /^[0-9a-f]{64}$/.test(value)) return random(Math.max(8, value.length));
  return value.replaceAll(ID, (_, prefix) => `${prefix}_${random(16)}`);
}
const UNIQUE = new Set(["email", "username", "orgname", "endpoint", "name_slug", "key"]);

/** Which row is copied, where not any would do: one that makes no work of its own. */
const QUIET: Record<string, Json> = {
  sources: { timer: null, state: "ready" },
  deliveries: { state: { $ne: "pending" } },
  runs: { outbox: { $exists: false } },
};

/** Puts `count` rows of others into every collection: with few rows a plan without a fitting index does no harm. */
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

/** Records every command of the connection's database from now on. */
export async function recordQueries({ db }: Connection): Promise<void> {
  // The default of 1 MB forgets within seconds.
  await db?.createCollection("system.profile", { capped: true, size: 256 * MB });
  await db?.command({ profile: 2 });
}

/** Commands that read no documents by a filter of ours. */
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

/** The filter of a command, wherever it stands; null for one that has none. Throws for a command not known here. */
function filterOf(name: string, command: Json): unknown {
  if (name === "find") return command.filter ?? {};
  if (name === "update" || name === "remove") return command.q ?? {};
  if (name === "count" || name === "distinct" || name === "findAndModify") return command.query ?? {};
  if (name === "aggregate") return (command.pipeline as Json[])[0]?.$match ?? command.pipeline;
  if (WITHOUT_FILTER.has(name)) return null;
  throw new Error(`${name}: add where its filter stands to test/contract/query-plans.ts`);
}

/** The same for all filters that differ in values only. */
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

/** Stops recording and answers each kind of query once. */
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
    // One bad plan among many good ones is what counts.
    if (known && known.wasted >= wasted && !hasSortStage) continue;
    shapes.set(key, { ...shape, plan: planSummary, sortedInMemory: hasSortStage, wasted });
  }
  return [...shapes.values()];
}

const pick = (command: Json, ...names: string[]): Json =>
  Object.fromEntries(names.filter(name => command[name] !== undefined).map(name => [name, command[name]]));

/** The command as `explain` takes it: without sessions, cursors and the like. */
function explainable({ name, collection, command }: QueryShape): Json {
  switch (name) {
    case "update":
      return { update: collection, updates: [pick(command, "q", "u", "multi", "upsert")] };
    case "remove":
      return { delete: collection, deletes: [{ q: command.q, limit: command.limit ?? 0 }] };
    case "aggregate":
      return { aggregate: collection, ...pick(command, "pipeline"), cursor: {} };
    case "findAndModify":
      return {
        findAndModify: collection,
        ...pick(command, "query", "sort", "update", "remove", "new", "upsert"),
      };
    default:
      return {
        [name]: collection,
        ...pick(command, "filter", "sort", "projection", "limit", "key", "query"),
      };
  }
}

/** Stages of the plan that was chosen, not of those that lost. */
function stagesOf(node: unknown): string[] {
  if (typeof node !== "object" || node === null) return [];
  if (Array.isArray(node)) return node.flatMap(stagesOf);
  return Object.entries(node).flatMap(([key, inner]) => {
    if (key === "rejectedPlans" || key === "command") return [];
    return key === "stage" ? [String(inner)] : stagesOf(inner);
  });
}

/** Of the caller's own things some may be passed over; of others' things none. */
const MAX_WASTED = 40;

/** What is wrong with how the server would do this query: empty when an index serves it. */
export async function faultsOfPlan({ db }: Connection, shape: QueryShape): Promise<string[]> {
  const explained = await db?.command({ explain: explainable(shape), verbosity: "queryPlanner" });
  const stages = stagesOf(explained);
  const { collection, name, filter, command } = shape;
  const sort = command.sort ? ` sorted by ${JSON.stringify(command.sort)}` : "";
  const query = `${collection}: ${name} ${JSON.stringify(filter)}${sort}`;
  const faults: string[] = [];
  if (shape.wasted > MAX_WASTED) faults.push(`${query} looked at ${shape.wasted} in vain (${shape.plan})`);
  if (shape.plan.includes("COLLSCAN") || stages.includes("COLLSCAN"))
    faults.push(`${query} scans the collection`);
  if (shape.sortedInMemory || stages.includes("SORT")) faults.push(`${query} sorts in memory`);
  return faults;
}

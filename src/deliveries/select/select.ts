import type { QueryFilter } from "mongoose";
import { isAccountId } from "../../alerts/raise.ts";
import { invalidField, notFound } from "../../lib/errors.ts";
import { firstIdAt } from "../../lib/ids.ts";
import { wordsOfText } from "../../lib/payload-words.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { DELIVERY_STATES, Deliveries, type Delivery, ISSUE } from "../../models/delivery.ts";
import { Sources } from "../../models/source.ts";
import { Workflows } from "../../models/workflow.ts";
import type { Platform, Stores } from "../../platform.ts";
import type { Page, PageRequest } from "../../store/page.ts";
import { findByText } from "./by-text.ts";
import { findAmongNewest } from "./newest.ts";
import {
  type DeliverySelector,
  type Found,
  MERGED,
  type SearchScope,
  type Selection,
  type TextSelection,
} from "./selection.ts";
import { idsOfEvent, webhooksOf } from "./webhooks.ts";

const SEARCHED = LIMITS.deliveriesSearched.value;

/**
 * Returns what selects the deliveries of a search: of all webhooks of the account, or of one of the accounts that the
 * request can access. The indexes of webhooks serve it, because one of an account would cost every delivery a write. Throws
 * `not-found` for a webhook or an emitter of none of these accounts, and `invalid` for a text without words, or if payloads are
 * not searched.
 */
export async function selectDeliveries(
  { mongo, config }: Stores,
  { owner, owners, where = "query" }: SearchScope,
  search: DeliverySelector,
): Promise<Selection> {
  const { state, since, until, issue_id, emitter_id, event_id, subscription_id, event_name, status, text } =
    search;
  if (until !== undefined && since !== undefined && until < since)
    throw invalidField(where, "until", "must not be before since");
  if (emitter_id !== undefined && !(await isOwnEmitter(mongo, emitter_id, owners))) throw notFound("emitter");
  const ranges: QueryFilter<Delivery>[] = [
    ...(since === undefined ? [] : [{ _id: { $gte: firstIdAt("dlv", since * 1000) } }]),
    ...(until === undefined ? [] : [{ _id: { $lt: firstIdAt("dlv", (until + 1) * 1000) } }]),
    ...(event_id === undefined ? [] : [{ _id: idsOfEvent(event_id) }]),
  ];
  const read = {
    ...(event_id !== undefined && { event_id }),
    ...(subscription_id !== undefined && { subscription_id }),
    ...(emitter_id !== undefined && { emitter_id }),
    ...(event_name !== undefined && { event_name }),
    ...(status !== undefined && { $expr: lastStatusIs(status) }),
  };
  return {
    webhooks: await webhooksOf(mongo, search, { owner, owners }),
    indexed: {
      ...(state && { state }),
      // Its index has the deliveries by state.
      ...(issue_id !== undefined && { issue_id, state: state ?? { $in: DELIVERY_STATES } }),
      ...(ranges.length > 0 && { $and: ranges }),
    },
    read: Object.keys(read).length > 0 ? read : null,
    text:
      text === undefined
        ? null
        : selectText(text, { owners, where, search, isOn: config.payloadSearchWords > 0 }),
  };
}

/** The events of the future: clocks of other processes may be ahead. */
const NEWEST_MS = 32_503_680_000_000;

function selectText(
  text: string,
  {
    owners,
    where,
    search,
    isOn,
  }: Required<Omit<SearchScope, "owner">> & { search: DeliverySelector; isOn: boolean },
): TextSelection {
  const { since, until } = search;
  const words = wordsOfText(text);
  if (!isOn || words.length === 0) {
    const message = isOn
      ? "must have a word of two letters or digits"
      : "this server does not search payloads (PAYLOAD_SEARCH_WORDS is 0)";
    throw invalidField(where, "text", message);
  }
  return {
    words,
    owners,
    sinceMs: (since ?? 0) * 1000,
    untilMs: until === undefined ? NEWEST_MS : until * 1000 + 999,
  };
}

async function isOwnEmitter(mongo: Platform["mongo"], id: string, owners: string[]): Promise<boolean> {
  if (isAccountId(id)) return owners.includes(id);
  const filter = { _id: id, owner_id: { $in: owners } };
  const found = id.startsWith("p_")
    ? await Workflows(mongo).exists(filter)
    : await Sources(mongo).exists({ ...filter, state: "ready" });
  return found !== null;
}

function lastStatusIs(status: string) {
  const last = { $last: "$attempts.status" };
  if (status === "none") return { $and: [{ $ne: ["$attempts", []] }, { $eq: [last, null] }] };
  if (!status.endsWith("xx")) return { $eq: [last, Number(status)] };
  const from = Number(status[0]) * 100;
  return { $and: [{ $gte: [last, from] }, { $lt: [last, from + 100] }] };
}

/** Returns a filter that selects by index, for at most `MERGED` webhooks: so many MongoDB reads in order. */
export function filterOf(webhookIds: string[], { indexed }: Selection): QueryFilter<Delivery> {
  // An issue is of one of them only, and has an index of its own.
  if (indexed.issue_id !== undefined && webhookIds.length > 0) return indexed;
  return { webhook_id: { $in: webhookIds }, ...indexed };
}

/** Returns the filters that select by index, for all webhooks. */
export async function indexedFilters(selection: Selection): Promise<QueryFilter<Delivery>[]> {
  const webhookIds = await selection.webhooks.all();
  const filters: QueryFilter<Delivery>[] = [];
  for (let at = 0; at < webhookIds.length; at += MERGED) {
    filters.push(filterOf(webhookIds.slice(at, at + MERGED), selection));
  }
  return filters;
}

/** The index that has the webhooks' deliveries in order: with few of them, MongoDB might sort instead. */
export const indexOf = ({ state, issue_id }: QueryFilter<Delivery>): Record<string, 1 | -1> | string => {
  if (issue_id !== undefined) return ISSUE;
  return state === undefined ? { webhook_id: 1, _id: -1 } : { webhook_id: 1, state: 1, _id: -1 };
};

/** A part of what a selection finds. `isEnd` is true if nothing follows in the direction of the page. */
interface Part extends Omit<Page<Delivery>, "totalCount"> {
  isEnd: boolean;
}

export const hasText = (selection: Selection): selection is Selection & { text: TextSelection } =>
  selection.text !== null;

/** Returns a page of the selected deliveries, each with its last attempt only; `before` reads towards newer ones. */
export async function findSelected(platform: Stores, selection: Selection, page: PageRequest): Promise<Part> {
  if (hasText(selection)) return mergePage([await findByText(platform, selection, page)], page);
  const newest = selection.webhooks.hasMore ? await findAmongNewest(platform, selection, page) : null;
  if (newest) return mergePage([newest], page);
  const filters = await indexedFilters(selection);
  // Together they read no more than one would.
  const searched = Math.ceil(SEARCHED / filters.length);
  const { read } = selection;
  const found = filters.map(filter => findSome(platform, { filter, read, searched }, page));
  return mergePage(await Promise.all(found), page);
}

/** Merges what several queries found; no row may be older than what one of them has not read yet. */
function mergePage(found: Found[], { limit, before }: PageRequest): Part {
  const backwards = before !== undefined;
  const inOrder = (a: string, b: string) => (a < b === backwards ? -1 : 1);
  const bound = found.flatMap(({ readUpTo }) => readUpTo ?? []).sort(inOrder)[0] ?? null;
  const isKnown = ({ _id }: Delivery) => bound === null || _id === bound || inOrder(_id, bound) < 0;
  const all = found.flatMap(({ rows }) => rows).sort((a, b) => inOrder(a._id, b._id));
  const rows = all.filter(isKnown).slice(0, limit);
  const last = rows.length === limit ? (rows.at(-1)?._id ?? null) : (bound ?? rows.at(-1)?._id ?? null);
  const first = rows[0]?._id ?? last;
  const isEnd = rows.length < limit && bound === null;
  return backwards
    ? { rows: rows.reverse(), startCursor: last, endCursor: first, isEnd }
    : { rows, startCursor: first, endCursor: last, isEnd };
}

async function findSome(
  { mongo }: Stores,
  query: { filter: QueryFilter<Delivery>; read: Selection["read"]; searched: number },
  { limit, after, before }: PageRequest,
): Promise<Found> {
  const direction = before === undefined ? -1 : 1;
  const bound = { ...(after !== undefined && { $lt: after }), ...(before !== undefined && { $gt: before }) };
  const filter: QueryFilter<Delivery> =
    Object.keys(bound).length === 0 ? query.filter : { $and: [query.filter, { _id: bound }] };
  const model = Deliveries(mongo);
  const index = indexOf(query.filter);
  if (query.read === null) {
    const rows = await model
      .find(filter, { attempts: { $slice: -1 } })
      .sort({ _id: direction })
      .hint(index)
      .limit(limit)
      .lean<Delivery[]>();
    return { rows, readUpTo: null };
  }
  const [rows, edge] = await Promise.all([
    model
      .aggregate<Delivery>([
        { $match: filter },
        { $sort: { _id: direction } },
        { $limit: query.searched },
        { $match: query.read },
        { $limit: limit },
        { $set: { attempts: { $slice: ["$attempts", -1] } } },
      ])
      .hint(index),
    model
      .find(filter, { _id: 1 })
      .sort({ _id: direction })
      .hint(index)
      .skip(query.searched - 1)
      .limit(1)
      .lean(),
  ]);
  // A full page need not know how far the search went.
  return { rows, readUpTo: rows.length === limit ? (rows.at(-1)?._id ?? null) : (edge[0]?._id ?? null) };
}

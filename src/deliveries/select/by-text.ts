import type { QueryFilter } from "mongoose";
import { firstIdAt, SLOTS_PER_MS, timeOfId } from "../../lib/ids.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { Deliveries, type Delivery } from "../../models/delivery.ts";
import { StoredEvents, WORDS_INDEX } from "../../models/event.ts";
import type { Stores } from "../../platform.ts";
import type { PageRequest } from "../../store/page.ts";
import type { Found, Selection, TextSelection } from "./selection.ts";
import { searchedAmong } from "./webhooks.ts";

type Bounds = Pick<PageRequest, "after" | "before">;

const SEARCHED = LIMITS.eventsSearched.value;
/** Of one emitter there are at most `SLOTS_PER_MS`. */
const MOST_IN_ONE_MS = 8 * SLOTS_PER_MS;
const ID_CHARS = firstIdAt("dlv", 0).length + 9;

/** Events with the words, and the last millisecond whose events are among them; null if there are no others. */
interface FoundEvents {
  ids: string[];
  endsAtMs: number | null;
}

/**
 * Returns deliveries of events with these words, in the direction of the page. The index leads to the events, at most
 * `LIMITS.eventsSearched` of them, and their ids lead to their deliveries. An account's own events are searched, and
 * those of its organizations; the payloads of others are none of its business, even where it receives them.
 */
export async function findByText(
  platform: Stores,
  selection: Selection & { text: TextSelection },
  page: PageRequest,
): Promise<Found> {
  const isBackwards = page.before !== undefined;
  const events = await findEvents(platform, selection.text, page);
  const filter = filterOf(selection, events, page);
  const rows = await Deliveries(platform.mongo)
    .find(await ofSearchedWebhooks(platform, selection, filter), { attempts: { $slice: -1 } })
    .sort({ _id: isBackwards ? 1 : -1 })
    .hint({ emit_id: 1 })
    .limit(page.limit)
    .lean<Delivery[]>();
  if (rows.length === page.limit) return { rows, readUpTo: rows.at(-1)?._id ?? null };
  return { rows, readUpTo: endOf(events, isBackwards) };
}

/** Returns how many deliveries of the newest `LIMITS.eventsSearched` events with these words there are. */
export async function countByText(
  platform: Stores,
  selection: Selection & { text: TextSelection },
): Promise<{ count: number; isExact: boolean }> {
  const events = await findEvents(platform, selection.text, {});
  const filter = await ofSearchedWebhooks(platform, selection, filterOf(selection, events, {}));
  const count = await Deliveries(platform.mongo).countDocuments(filter, { hint: { emit_id: 1 } });
  return { count, isExact: events.endsAtMs === null };
}

/** The id up to which the deliveries of these events are complete. */
function endOf({ endsAtMs }: FoundEvents, isBackwards: boolean): string | null {
  if (endsAtMs === null) return null;
  return firstIdAt("dlv", isBackwards ? endsAtMs + 1 : endsAtMs);
}

function filterOf(
  { indexed, read }: Selection,
  { ids }: FoundEvents,
  { after, before }: Bounds,
): QueryFilter<Delivery> {
  const parts: QueryFilter<Delivery>[] = [{ emit_id: { $in: ids }, ...indexed }];
  if (read !== null) parts.push(read);
  if (after !== undefined) parts.push({ _id: { $lt: after } });
  if (before !== undefined) parts.push({ _id: { $gt: before } });
  return { $and: parts };
}

/** Adds to a filter that the delivery's webhook is searched: of very many webhooks, those that the filter finds deliveries of. */
async function ofSearchedWebhooks(
  { mongo }: Stores,
  { webhooks }: Selection,
  filter: QueryFilter<Delivery>,
): Promise<QueryFilter<Delivery>> {
  const ids = webhooks.hasMore
    ? await Deliveries(mongo).distinct("webhook_id", { $and: [filter, { owner_id: webhooks.owner }] })
    : [];
  const searched = await searchedAmong(mongo, webhooks, ids);
  return { $and: [filter, { webhook_id: { $in: [...searched] } }] };
}

/** The queries that find events with the words, in the direction of the page; the tests explain them. */
export function eventQueries({ mongo }: Stores, text: TextSelection, bounds: Bounds) {
  const { words, owners } = text;
  const filter = { owner_id: { $in: owners }, words: words[0] as number };
  const score = scoresOf(text, bounds);
  const direction = bounds.before === undefined ? -1 : 1;
  const model = StoredEvents(mongo);
  const read = (score: object, limit: number) =>
    model
      .aggregate<{ _id: string }>([
        { $match: { ...filter, score } },
        { $sort: { score: direction } },
        { $limit: limit },
        { $match: { words: { $all: words } } },
        { $project: { _id: 1 } },
      ])
      .hint(WORDS_INDEX);
  return {
    /** The events that one request reads. */
    events: () => read(score, SEARCHED),
    /** The first event that it does not read. */
    next: () =>
      model
        .find({ ...filter, score }, { _id: 0, score: 1 })
        .sort({ score: direction })
        .hint(WORDS_INDEX)
        .skip(SEARCHED)
        .limit(1)
        .lean<{ score: number }[]>(),
    /** All events of one millisecond. */
    eventsOf: (ms: number) => read(scoresWithin(ms, ms), MOST_IN_ONE_MS),
  };
}

async function findEvents(platform: Stores, text: TextSelection, bounds: Bounds): Promise<FoundEvents> {
  const queries = eventQueries(platform, text, bounds);
  const [found, [next]] = await Promise.all([queries.events(), queries.next()]);
  const ids = found.map(({ _id }) => _id);
  if (next === undefined) return { ids, endsAtMs: null };
  // Delivery ids of one millisecond are in no order, so all of its events belong to one page.
  const endsAtMs = Math.floor(next.score / SLOTS_PER_MS);
  const rest = await queries.eventsOf(endsAtMs);
  return { ids: [...new Set([...ids, ...rest.map(({ _id }) => _id)])], endsAtMs };
}

const scoresWithin = (fromMs: number, toMs: number) => ({
  $gte: fromMs * SLOTS_PER_MS,
  $lt: (toMs + 1) * SLOTS_PER_MS,
});

/** The event ids, as scores, that may have a delivery beyond the cursor: a delivery's id begins with its event's time. */
function scoresOf({ sinceMs, untilMs }: TextSelection, { after, before }: Bounds) {
  const newest = after === undefined ? untilMs : Math.min(untilMs, lastMsBefore(after));
  const oldest = before === undefined ? sinceMs : Math.max(sinceMs, msOf(before));
  return scoresWithin(oldest, newest);
}

/** Of an id without its last part, which is the bound of a millisecond, too. */
const msOf = (id: string): number => timeOfId(id.padEnd(ID_CHARS, "0")) ?? 0;
const lastMsBefore = (id: string): number => (id.length < ID_CHARS ? msOf(id) - 1 : msOf(id));

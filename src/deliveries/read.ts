import type { QueryFilter } from "mongoose";
import { shownOrg } from "../accounts/access.ts";
import { type NameOf, readNames } from "../accounts/names.ts";
import { firstIdAt, runIdOf } from "../lib/ids.ts";
import { JsonText } from "../lib/json-text.ts";
import { unixSeconds } from "../lib/time.ts";
import { LIMITS } from "../limits/catalogue.ts";
import {
  type ActionOutput,
  type AttemptRecord,
  Deliveries,
  type Delivery,
  TransformedPayloads,
} from "../models/delivery.ts";
import { type StoredEvent, StoredEvents } from "../models/event.ts";
import type { Recovery, Webhook } from "../models/webhook.ts";
import type { Platform, Stores } from "../platform.ts";
import { countCached, keptCount, mapPage, type Page, type PageRequest, pageOf } from "../store/page.ts";
import { traceIdOf } from "../tracing/trace-context.ts";
import { findWebhook } from "../webhooks/find.ts";
import { cloudEventAttributes, formattedHeaders } from "./attempt/body-format.ts";
import { signatureHeaderNames } from "./attempt/sign.ts";
import type {
  DeliveryDetail,
  DeliveryFilter,
  DeliveryRequest,
  DeliverySearch,
  DeliveryView,
  DeliveryWithAttempts,
  RecoveryView,
} from "./schema.ts";
import { countIndexed, countRead, countUpTo } from "./select/count.ts";
import { findSelected, selectDeliveries } from "./select/select.ts";
import type { SearchScope, Selection } from "./select/selection.ts";

/** Characters of an event that lists show: enough to tell one from another. */
const PREVIEW_CHARS = 200;

/** Returns the beginning of a delivery's event; null if it is not kept, or is none of the reader's. */
type PreviewOf = (delivery: Delivery) => string | null;

/** Returns a delivery as its owner sees it in lists: with its last attempt only. Live views have no names. */
export function presentDelivery(delivery: Delivery, nameOf?: NameOf, previewOf?: PreviewOf): DeliveryView {
  const last = delivery.attempts.at(-1);
  return {
    id: delivery._id,
    ...shownOrg(delivery.owner_id),
    webhook_id: delivery.webhook_id,
    ...(nameOf && { webhook_name: nameOf(delivery.webhook_id) }),
    subscription_id: delivery.subscription_id,
    emitter_id: delivery.emitter_id,
    ...(nameOf && { emitter_name: nameOf(delivery.emitter_id) }),
    event_id: delivery.event_id,
    event_name: delivery.event_name,
    run_id: runIdOf(delivery.emit_id.slice(delivery.emitter_id.length + 1)) ?? null,
    ...(previewOf && { event_preview: previewOf(delivery) }),
    state: delivery.state,
    reason: delivery.reason,
    attempts_made: last?.number ?? 0,
    last_attempt: last ? withoutOutput(last) : null,
    next_attempt_at_ms: delivery.next_attempt_at_ms,
    finished_at_ms: delivery.finished_at_ms,
    issue_id: delivery.issue_id ?? null,
    created_at: unixSeconds(delivery.created_at.getTime()),
    trace_id: delivery.trace === undefined ? null : traceIdOf(delivery.trace),
  };
}

/** Returns a delivery with all of its stored attempts, oldest first. */
export function presentWithAttempts(delivery: Delivery, nameOf: NameOf): DeliveryWithAttempts {
  const attempts = delivery.attempts.map(({ output, ...attempt }) => ({
    ...attempt,
    ...(output !== undefined && { output: JSON.parse(output) as ActionOutput }),
  }));
  return { ...presentDelivery(delivery, nameOf), attempts };
}

/** Reads the names of the webhooks and emitters of some deliveries, as far as these accounts can read them. */
export const namesOfDeliveries = (
  platform: Stores,
  deliveries: Pick<Delivery, "webhook_id" | "emitter_id">[],
  owners: string[],
): Promise<NameOf> =>
  readNames(
    platform,
    deliveries.flatMap(({ webhook_id, emitter_id }) => [webhook_id, emitter_id]),
    owners,
  );

const withoutOutput = ({ output: _output, ...attempt }: AttemptRecord) => attempt;

/** Returns a recovery as the webhook's owner sees it. */
export function presentRecovery(recovery: Recovery): RecoveryView {
  const { count, recovered, state, since_ms, started_at_ms, finished_at_ms } = recovery;
  return { count, recovered, state, since: Math.floor(since_ms / 1000), started_at_ms, finished_at_ms };
}

/**
 * Returns a delivery with its attempts and with what they send, which is derived and not stored; never a signature or the
 * value of a custom header. `isExpanded` adds the event, if its emitter is one of these owners'.
 */
export async function readDetail(
  platform: Stores,
  delivery: Delivery,
  { owners, isExpanded }: { owners: string[]; isExpanded: boolean },
): Promise<DeliveryDetail> {
  const [request, payload, nameOf] = await Promise.all([
    describeRequest(platform, delivery),
    isExpanded ? readPayload(platform, delivery, owners) : {},
    namesOfDeliveries(platform, [delivery], owners),
  ]);
  return { ...presentWithAttempts(delivery, nameOf), request, ...payload };
}

/** What a function made of an event is as little for others than the readers of its emitter as the event itself. */
async function readPayload(
  { mongo }: Stores,
  { _id, emit_id }: Delivery,
  owners: string[],
): Promise<Pick<DeliveryDetail, "event" | "transformed_event">> {
  const [stored, transformed] = await Promise.all([
    StoredEvents(mongo)
      .findOne({ _id: emit_id, owner_id: { $in: owners } }, { event: 1 })
      .lean(),
    TransformedPayloads(mongo).findById(_id, { body: 1 }).lean(),
  ]);
  if (!stored) return {};
  return {
    event: new JsonText(stored.event),
    ...(transformed && { transformed_event: new JsonText(transformed.body) }),
  };
}

async function describeRequest(
  platform: Stores,
  { _id, webhook_id, owner_id, event_id, emitter_id, event_name, hops }: Delivery,
): Promise<DeliveryRequest | null> {
  const webhook = await findWebhook(platform, webhook_id, [owner_id]);
  if (!webhook) return null;
  const message = { id: _id, eventId: event_id, emitterId: emitter_id, eventName: event_name, hops };
  return {
    method: "POST",
    url: webhook.url,
    headers: formattedHeaders(platform.config, webhook.format, message),
    cloud_event: webhook.format === "cloudevents" ? cloudEventAttributes(message) : null,
    secret_header_names: [...signatureHeaderNames(webhook), ...webhook.header_names],
    webhook_updated_at: webhook.updated_at,
  };
}

/** Returns a delivery of one of these owners, otherwise null (docs/design.md#guarantee-6). */
async function findDelivery(platform: Stores, id: string, owners: string[]): Promise<Delivery | null> {
  return await Deliveries(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean<Delivery | null>();
}

/** The access rule of routes whose path names a delivery. */
export const ownDelivery = { kind: "resource", what: "delivery", load: findDelivery } as const;

/** The key has the hash tag of the webhook, like its other keys, so that they share one slot of a Redis Cluster. */
const countKey = (keys: Platform["keys"], webhookId: string, filter: unknown[]) =>
  keys.listCount(webhookId, `deliveries-${filter.map(part => part ?? "").join("-")}`);

/** Returns a page of a webhook's deliveries, newest first, filtered by state and by the time of their events. */
export async function listDeliveries(
  platform: Stores,
  { webhook, owners }: { webhook: Webhook; owners: string[] },
  { state, since, until }: DeliveryFilter,
  page: PageRequest,
): Promise<Page<DeliveryView>> {
  const idRange = {
    ...(since !== undefined && { $gte: firstIdAt("dlv", since * 1000) }),
    ...(until !== undefined && { $lt: firstIdAt("dlv", (until + 1) * 1000) }),
  };
  const filter: QueryFilter<Delivery> = {
    webhook_id: webhook._id,
    ...(state && { state }),
    ...(Object.keys(idRange).length > 0 && { _id: idRange }),
  };
  const found = await pageOf(Deliveries(platform.mongo), filter, page, {
    // A list shows only the last attempt; all attempts of a page would be megabytes.
    projection: { attempts: { $slice: -1 } },
    countCache: {
      redis: platform.redis,
      key: countKey(platform.keys, webhook._id, [state, since, until]),
    },
  });
  return await presentPage(platform, found, owners);
}

async function presentPage(
  platform: Stores,
  found: Page<Delivery>,
  owners: string[],
  hasPreviews = false,
): Promise<Page<DeliveryView>> {
  const [nameOf, previewOf] = await Promise.all([
    namesOfDeliveries(platform, found.rows, owners),
    hasPreviews ? readPreviews(platform, found.rows, owners) : undefined,
  ]);
  return mapPage(found, delivery => presentDelivery(delivery, nameOf, previewOf));
}

/** Reads the beginnings of the events of some deliveries, as far as these accounts can read them. */
async function readPreviews(
  { mongo }: Stores,
  deliveries: Pick<Delivery, "emit_id">[],
  owners: string[],
): Promise<PreviewOf> {
  const ids = [...new Set(deliveries.map(({ emit_id }) => emit_id))];
  // MongoDB cuts them: whole events of a page would be megabytes.
  const beginning: Record<string, unknown> = { event: { $substrCP: ["$event", 0, PREVIEW_CHARS] } };
  const found = await StoredEvents(mongo)
    .find({ _id: { $in: ids }, owner_id: { $in: owners } }, beginning)
    .lean<Pick<StoredEvent, "_id" | "event">[]>();
  const previews = new Map(found.map(({ _id, event }) => [_id, event]));
  return ({ emit_id }) => previews.get(emit_id) ?? null;
}

/**
 * Returns a page of deliveries over all webhooks of an account, newest first. A page whose filter has no index ends early
 * after `LIMITS.deliveriesSearched` deliveries, perhaps empty: its end cursor goes on. `total_count` is then that of the
 * newest so many.
 */
export async function searchDeliveries(
  platform: Stores,
  scope: SearchScope,
  search: DeliverySearch,
  page: PageRequest,
): Promise<Page<DeliveryView>> {
  const selection = await selectDeliveries(platform, scope, search);
  const [{ isEnd: _, ...found }, totalCount] = await Promise.all([
    findSelected(platform, selection, page),
    countAll(platform, { scope, search, selection }),
  ]);
  return await presentPage(platform, { ...found, totalCount }, scope.owners, search.expand === "preview");
}

async function countAll(
  platform: Stores,
  { scope, search, selection }: { scope: SearchScope; search: DeliverySearch; selection: Selection },
): Promise<number> {
  const { redis, keys } = platform;
  if (selection.read !== null || selection.text !== null)
    return await countRead(platform, selection, LIMITS.deliveriesSearched.value);
  const list = `all-deliveries-${[search.webhook_id, search.issue_id, search.state, search.since, search.until].map(part => part ?? "").join("-")}`;
  const cache = { redis, key: keys.listCount(scope.owner, list) };
  // With very many webhooks, even to count up to where counts are kept reads an index in thousands of places.
  const kept = selection.webhooks.hasMore ? await keptCount(cache) : null;
  if (kept !== null) return kept;
  return await countCached(
    limit =>
      limit === undefined ? countIndexed(platform, selection) : countUpTo(platform, selection, limit),
    cache,
  );
}

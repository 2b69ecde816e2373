import type { ChangeNote } from "../http/changes.ts";
import { accepted, data, page, routeFor } from "../http/route.ts";
import { version } from "../lib/versions.ts";
import type { Calling, Working } from "../platform.ts";
import { ownWebhook } from "../webhooks/find.ts";
import { exampleDelivery, exampleRecovery, lastAttempt } from "./examples.ts";
import { listsDeliveries, readsRecovery, recoversDeliveries, sendsTest } from "./listener-routes.ts";
import { retryDelivery } from "./manual-retry.ts";
import { namesOfDeliveries, ownDelivery, presentDelivery, readDetail, searchDeliveries } from "./read.ts";
import {
  DeliveryDetail,
  DeliveryExpand,
  DeliveryIds,
  type DeliveryRequest,
  DeliverySearch,
  DeliveryView,
  SelectedDeliveries,
} from "./schema.ts";
import { type ActedOn, cancelSelected, retrySelected } from "./selected.ts";

const route = routeFor<Working & Calling>();

const example = exampleDelivery;
const request: DeliveryRequest = {
  method: "POST",
  url: "https://example.com/hook",
  headers: {
    "content-type": "application/json",
    "user-agent": `Headwater/${version}`,
    "webhook-id": example.id,
    "x-headwater-event-id": example.event_id,
    "x-headwater-emitter-id": example.emitter_id,
    "x-headwater-event-name": "",
    "x-headwater-hops": "1",
  },
  cloud_event: null,
  secret_header_names: ["webhook-signature", "x-pd-signature", "authorization"],
  webhook_updated_at: 1_700_000_000,
};
const webhookParams = { id: example.webhook_id };
const params = { id: example.id };
const selected = { done: 1, results: [{ id: example.id, result: "done", reason: null }] };

/** Each account whose deliveries were among them has it in its audit log, under the first of them. */
function told({ selected, ownerIds }: ActedOn, changes: (note: ChangeNote | null) => void) {
  const [ownerId, ...alsoOf] = ownerIds;
  const first = selected.results.find(({ result }) => result === "done");
  const more = selected.done - 1;
  changes(
    ownerId && first
      ? { ownerId, alsoOf, id: first.id, ...(more > 0 && { name: `and ${more} more` }) }
      : null,
  );
  return selected;
}

/** Routes that show deliveries and retry them (docs/design.md#delivery-to-a-webhook). */
export const deliveryRoutes = [
  route({
    method: "GET",
    path: "/webhooks/{id}/deliveries",
    id: "listDeliveries",
    tag: "Deliveries",
    summary: "List a webhook's deliveries",
    description: "Newest first. A `total_count` above 10,000 may be up to a minute old.",
    access: ownWebhook,
    ...listsDeliveries,
    example: { params: webhookParams, query: { state: "failed" }, response: example },
  }),
  route({
    method: "GET",
    path: "/deliveries",
    id: "searchDeliveries",
    tag: "Deliveries",
    summary: "Search the deliveries of all your webhooks",
    description:
      "Newest first, of the webhooks that exist. With `emitter_id`, `subscription_id`, `event_name`, `status` or `text` a page may have " +
      "fewer rows than `limit`, even none: the list has ended when `end_cursor` is null; `total_count` is then that of " +
      "the newest 10,000 deliveries, and with `text` of the newest 1,000 events. Otherwise a `total_count` above 10,000 may be up to a minute old.",
    access: { kind: "owner" },
    query: DeliverySearch,
    response: page(200, DeliveryView),
    errors: ["not-found"],
    example: { query: { state: "failed", status: "5xx" }, response: example },
    handler: ({ deps, owner, owners, query, page }) => searchDeliveries(deps, { owner, owners }, query, page),
  }),
  route({
    method: "GET",
    path: "/deliveries/{id}",
    id: "getDelivery",
    tag: "Deliveries",
    summary: "Get a delivery with its attempts, and what they send",
    description: "`expand=event` adds the event, and what a function made of it.",
    access: ownDelivery,
    query: DeliveryExpand,
    response: data(200, DeliveryDetail),
    example: { params, response: { ...example, attempts: [lastAttempt], request } },
    handler: ({ deps, resource, owners, query }) =>
      readDetail(deps, resource, { owners, isExpanded: query.expand === "event" }),
  }),
  route({
    method: "POST",
    path: "/deliveries/{id}/retry",
    id: "retryDelivery",
    audit: "delivery.retried",
    tag: "Deliveries",
    summary: "Retry a delivery now",
    description: "Replaces the scheduled attempt and restarts the retry schedule.",
    access: ownDelivery,
    response: accepted(202, DeliveryView),
    errors: ["conflict"],
    example: { params, response: example },
    handler: async ({ deps, resource, owners }) => {
      const retried = await retryDelivery(deps, resource);
      return presentDelivery(retried, await namesOfDeliveries(deps, [retried], owners));
    },
  }),
  route({
    method: "POST",
    path: "/deliveries/retry",
    id: "retrySelectedDeliveries",
    audit: "deliveries.retried",
    tag: "Deliveries",
    summary: "Retry several deliveries now",
    description:
      "Each as `POST /deliveries/{id}/retry` does. The response says of each what became of it: one that can't be retried " +
      "keeps no other from it.",
    access: { kind: "owner" },
    body: DeliveryIds,
    response: accepted(202, SelectedDeliveries),
    example: { body: { ids: [example.id] }, response: selected },
    handler: async ({ deps, owners, body, changes }) =>
      told(await retrySelected(deps, body.ids, owners), changes),
  }),
  route({
    method: "POST",
    path: "/deliveries/cancel",
    id: "cancelSelectedDeliveries",
    audit: "deliveries.cancelled",
    tag: "Deliveries",
    summary: "Cancel several pending deliveries",
    description:
      "They are `cancelled`, and no further attempt is made unless they are retried. An attempt that is in flight goes on; its " +
      "result is logged, and changes nothing. The response says of each what became of it.",
    access: { kind: "owner" },
    body: DeliveryIds,
    response: data(200, SelectedDeliveries),
    example: { body: { ids: [example.id] }, response: selected },
    handler: async ({ deps, owners, body, changes }) =>
      told(await cancelSelected(deps, body.ids, owners), changes),
  }),
  route({
    method: "POST",
    path: "/webhooks/{id}/recover",
    id: "recoverDeliveries",
    audit: "webhook.deliveries_retried",
    tag: "Deliveries",
    summary: "Retry all failed deliveries since a point in time",
    description:
      "A worker retries them in batches, oldest first; `GET` of the same path shows how far it is. A request for a " +
      "time that the recovery in progress covers returns that one; any other replaces it. With `dry_run`, the " +
      "deliveries are only counted, and the status is 200.",
    access: ownWebhook,
    ...recoversDeliveries,
    example: { params: webhookParams, body: { since: 1_700_000_000 }, response: exampleRecovery },
  }),
  route({
    method: "GET",
    path: "/webhooks/{id}/recover",
    id: "getRecovery",
    tag: "Deliveries",
    summary: "Get the progress of the webhook's last recovery",
    description: "404 if there was none.",
    access: ownWebhook,
    ...readsRecovery,
    example: { params: webhookParams, response: { ...exampleRecovery, recovered: 12, state: "done" } },
  }),
  route({
    method: "POST",
    path: "/webhooks/{id}/test",
    id: "testWebhook",
    audit: "webhook.tested",
    tag: "Deliveries",
    summary: "Send a signed test event now",
    description:
      "Returns the response of the endpoint. The test is not recorded. A disabled webhook can be tested too.",
    access: ownWebhook,
    ...sendsTest,
    example: {
      params: webhookParams,
      response: { status: 200, latency_ms: 38, error: null, response: "ok" },
    },
  }),
];

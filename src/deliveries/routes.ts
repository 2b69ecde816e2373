import { accepted, data, page } from "../http/response.ts";
import { routeFor } from "../http/route.ts";
import { notFound } from "../lib/errors.ts";
import type { Platform } from "../platform.ts";
import { ownWebhook } from "../webhooks/find.ts";
import { sendTest } from "./attempt/send-test.ts";
import { ownDelivery } from "./find.ts";
import { listDeliveries } from "./list.ts";
import { retryDelivery } from "./manual-retry.ts";
import { presentDelivery, presentRecovery } from "./present.ts";
import { readDetail } from "./read-detail.ts";
import { countFailed, startRecovery } from "./recover.ts";
import {
  DeliveryDetail,
  DeliveryExpand,
  DeliveryFilter,
  type DeliveryRequest,
  DeliverySearch,
  DeliveryView,
  RecoverBody,
  RecoveryView,
  TestResult,
} from "./schema.ts";
import { searchDeliveries } from "./search.ts";

type Deps = Pick<
  Platform,
  "mongo" | "redis" | "keys" | "queues" | "egress" | "secrets" | "config" | "clock" | "activity"
>;

const route = routeFor<Deps>();

const lastAttempt = {
  number: 1,
  at_ms: 1_700_000_000_120,
  trigger: "schedule" as const,
  status: 503,
  latency_ms: 41,
  error: "HTTP status 503",
  response: "try later",
};
const example: DeliveryView = {
  id: "dlv_0CjBBm3Xs6JpR9wF",
  webhook_id: "wh_0CjBAEdF3kWq9RtZ",
  subscription_id: "sub_0CjBBk2Zt5HnQ8wE",
  emitter_id: "dc_0CjB9uPc7RfT1xLs",
  event_id: "1700000000000-0",
  event_name: "",
  state: "pending",
  reason: null,
  attempts_made: 1,
  last_attempt: lastAttempt,
  next_attempt_at_ms: 1_700_000_005_000,
  finished_at_ms: null,
  created_at: 1_700_000_000,
  trace_id: "4bf92f3577b34da6a3ce929d0e0e4736",
};
const request: DeliveryRequest = {
  method: "POST",
  url: "https://example.com/hook",
  headers: {
    "content-type": "application/json",
    "user-agent": "Headwater/0.1.0",
    "webhook-id": example.id,
    "x-headwater-event-id": example.event_id,
    "x-headwater-emitter-id": example.emitter_id,
    "x-headwater-event-name": "",
  },
  secret_header_names: ["webhook-signature", "x-pd-signature", "authorization"],
  webhook_updated_at: 1_700_000_000,
};
const webhookParams = { id: example.webhook_id };
const params = { id: example.id };
const recovery: RecoveryView = {
  count: 12,
  recovered: 0,
  state: "running",
  since: 1_700_000_000,
  started_at_ms: 1_700_000_600_000,
  finished_at_ms: null,
};
const NOT_STARTED = { recovered: 0, state: "counted", started_at_ms: null, finished_at_ms: null } as const;

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
    query: DeliveryFilter,
    response: page(200, DeliveryView),
    example: { params: webhookParams, query: { state: "failed" }, response: example },
    handler: ({ deps, resource, query, page }) => listDeliveries(deps, resource, query, page),
  }),
  route({
    method: "GET",
    path: "/deliveries",
    id: "searchDeliveries",
    tag: "Deliveries",
    summary: "Search the deliveries of all your webhooks",
    description:
      "Newest first, of the webhooks that exist. With `emitter_id`, `event_name`, `status` or `text` a page may have " +
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
    access: ownDelivery,
    query: DeliveryExpand,
    response: data(200, DeliveryDetail),
    example: { params, response: { ...example, attempts: [lastAttempt], request } },
    handler: ({ deps, resource, query }) => readDetail(deps, resource, query.expand === "event"),
  }),
  route({
    method: "POST",
    path: "/deliveries/{id}/retry",
    id: "retryDelivery",
    tag: "Deliveries",
    summary: "Retry a delivery now",
    description: "Replaces the scheduled attempt and restarts the retry schedule.",
    access: ownDelivery,
    response: accepted(202, DeliveryView),
    errors: ["conflict"],
    example: { params, response: example },
    handler: async ({ deps, resource }) => presentDelivery(await retryDelivery(deps, resource)),
  }),
  route({
    method: "POST",
    path: "/webhooks/{id}/recover",
    id: "recoverDeliveries",
    tag: "Deliveries",
    summary: "Retry all failed deliveries since a point in time",
    description:
      "A worker retries them in batches, oldest first; `GET` of the same path shows how far it is. A request for a " +
      "time that the recovery in progress covers returns that one; any other replaces it. With `dry_run`, the " +
      "deliveries are only counted, and the status is 200.",
    access: ownWebhook,
    body: RecoverBody,
    response: accepted(202, RecoveryView),
    alsoStatus: 200,
    errors: ["conflict"],
    example: { params: webhookParams, body: { since: 1_700_000_000 }, response: recovery },
    handler: async ({ deps, resource, body, ctx }) => {
      if (!body.dry_run) return presentRecovery(await startRecovery(deps, resource, body.since * 1000));
      ctx.status = 200;
      const count = await countFailed(deps, resource, body.since * 1000);
      return { ...NOT_STARTED, count, since: body.since };
    },
  }),
  route({
    method: "GET",
    path: "/webhooks/{id}/recover",
    id: "getRecovery",
    tag: "Deliveries",
    summary: "Get the progress of the webhook's last recovery",
    description: "404 if there was none.",
    access: ownWebhook,
    response: data(200, RecoveryView),
    example: { params: webhookParams, response: { ...recovery, recovered: 12, state: "done" } },
    handler: async ({ resource }) => {
      if (!resource.recovery) throw notFound("recovery");
      return presentRecovery(resource.recovery);
    },
  }),
  route({
    method: "POST",
    path: "/webhooks/{id}/test",
    id: "testWebhook",
    tag: "Deliveries",
    summary: "Send a signed test event now",
    description:
      "Returns the response of the endpoint. The test is not recorded. A disabled webhook can be tested too.",
    access: ownWebhook,
    response: data(200, TestResult),
    example: {
      params: webhookParams,
      response: { status: 200, latency_ms: 38, error: null, response: "ok" },
    },
    handler: ({ deps, resource }) => sendTest(deps, resource),
  }),
];

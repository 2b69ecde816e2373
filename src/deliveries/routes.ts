import { accepted, data, page } from "../http/response.ts";
import { routeFor } from "../http/route.ts";
import type { Platform } from "../platform.ts";
import { sendTest } from "./attempt/send-test.ts";
import { retryDelivery } from "./manual-retry.ts";
import { countFailed, recoverFailed } from "./recover.ts";
import {
  DeliveryFilter,
  DeliveryView,
  DeliveryWithAttempts,
  RecoverBody,
  Recovered,
  TestResult,
} from "./schema.ts";
import { findDelivery, listDeliveries, ownWebhook, presentDelivery, presentWithAttempts } from "./service.ts";

type Deps = Pick<Platform, "mongo" | "redis" | "keys" | "queues" | "egress" | "secrets" | "config" | "clock">;

const route = routeFor<Deps>();

const webhookOfPath = {
  kind: "resource" as const,
  what: "webhook",
  load: (deps: Deps, id: string, owners: string[]) => ownWebhook(deps, id, owners),
};

const deliveryOfPath = {
  kind: "resource" as const,
  what: "delivery",
  load: (deps: Deps, id: string, owners: string[]) => findDelivery(deps, id, owners),
};

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
};
const webhookParams = { id: example.webhook_id };
const params = { id: example.id };

/** What became of the events sent to a webhook, and trying again (design.md, "Delivery to a webhook"). */
export const deliveryRoutes = [
  route({
    method: "GET",
    path: "/webhooks/{id}/deliveries",
    id: "listDeliveries",
    tag: "Deliveries",
    summary: "List a webhook's deliveries",
    description: "`total_count` above 10,000 may be up to a minute old.",
    access: webhookOfPath,
    query: DeliveryFilter,
    response: page(200, DeliveryView),
    example: { params: webhookParams, query: { state: "failed" }, response: example },
    handler: ({ deps, resource, query, page: wanted }) => listDeliveries(deps, resource, query, wanted),
  }),
  route({
    method: "GET",
    path: "/deliveries/{id}",
    id: "getDelivery",
    tag: "Deliveries",
    summary: "Fetch a delivery with its attempts",
    access: deliveryOfPath,
    response: data(200, DeliveryWithAttempts),
    example: { params, response: { ...example, attempts: [lastAttempt] } },
    handler: async ({ resource }) => presentWithAttempts(resource),
  }),
  route({
    method: "POST",
    path: "/deliveries/{id}/retry",
    id: "retryDelivery",
    tag: "Deliveries",
    summary: "Try a delivery again now",
    description: "Replaces the attempt that is scheduled; the retry schedule begins anew.",
    access: deliveryOfPath,
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
    summary: "Try all failed deliveries since a moment again",
    description: "With `dry_run` they are only counted.",
    access: webhookOfPath,
    body: RecoverBody,
    response: data(200, Recovered),
    errors: ["conflict"],
    example: {
      params: webhookParams,
      body: { since: 1_700_000_000, dry_run: true },
      response: { count: 12 },
    },
    handler: async ({ deps, resource, body }) => {
      const act = body.dry_run ? countFailed : recoverFailed;
      return { count: await act(deps, resource, body.since * 1000) };
    },
  }),
  route({
    method: "POST",
    path: "/webhooks/{id}/test",
    id: "testWebhook",
    tag: "Deliveries",
    summary: "Send a signed test event now",
    description: "Tells what the endpoint said. It is not recorded, and works for a disabled webhook too.",
    access: webhookOfPath,
    response: data(200, TestResult),
    example: {
      params: webhookParams,
      response: { status: 200, latency_ms: 38, error: null, response: "ok" },
    },
    handler: ({ deps, resource }) => sendTest(deps, resource),
  }),
];

import type { Static } from "typebox";
import { ownDestination } from "../destinations/destinations.ts";
import { accepted, data, page, type RouteRequest, routeFor } from "../http/route.ts";
import type { Webhook } from "../models/webhook.ts";
import type { Calling, Working } from "../platform.ts";
import { sendTest } from "./attempt/send.ts";
import { exampleDelivery, exampleRecovery } from "./examples.ts";
import { listDeliveries } from "./read.ts";
import { readRecovery, requestRecovery } from "./recover.ts";
import { DeliveryFilter, DeliveryView, RecoverBody, RecoveryView, TestResult } from "./schema.ts";

/** A request that names a webhook or a destination. */
type Asked<Query, Body> = RouteRequest<Working & Calling, object, Query, Body, Webhook>;

/** What a route that lists the deliveries to a webhook is, and one that lists those to a destination. */
export const listsDeliveries = {
  query: DeliveryFilter,
  response: page(200, DeliveryView),
  handler: ({ deps, resource, owners, query, page }: Asked<Static<typeof DeliveryFilter>, unknown>) =>
    listDeliveries(deps, { webhook: resource, owners }, query, page),
};

/** As `listsDeliveries`, for a route that retries those that failed. */
export const recoversDeliveries = {
  body: RecoverBody,
  response: accepted(202, RecoveryView),
  alsoStatus: 200,
  errors: ["conflict"] as const,
  handler: ({ deps, resource, body, ctx, changes }: Asked<unknown, Static<typeof RecoverBody>>) => {
    if (body.dry_run) {
      ctx.status = 200;
      changes(null);
    }
    return requestRecovery(deps, resource, body);
  },
};

/** As `listsDeliveries`, for a route that shows how far that is. */
export const readsRecovery = {
  response: data(200, RecoveryView),
  handler: async ({ resource }: Asked<unknown, unknown>) => readRecovery(resource),
};

/** As `listsDeliveries`, for a route that sends a test event now. */
export const sendsTest = {
  response: data(200, TestResult),
  handler: ({ deps, resource }: Asked<unknown, unknown>) => sendTest(deps, resource),
};

const route = routeFor<Working & Calling>();
const tag = "Destinations";
const params = { id: "ds_0CjBAEdF3kWq9RtZ" };

/** Routes that show a destination's deliveries and retry them; those of a webhook do the same. */
export const destinationDeliveryRoutes = [
  route({
    method: "GET",
    path: "/destinations/{id}/deliveries",
    id: "listDestinationDeliveries",
    tag,
    summary: "List a destination's deliveries",
    description:
      "Newest first; `webhook_id` is the destination. A `total_count` above 10,000 may be up to a minute old.",
    access: ownDestination,
    ...listsDeliveries,
    example: { params, query: { state: "failed" }, response: { ...exampleDelivery, webhook_id: params.id } },
  }),
  route({
    method: "POST",
    path: "/destinations/{id}/recover",
    id: "recoverDestinationDeliveries",
    audit: "destination.deliveries_retried",
    tag,
    summary: "Retry all failed deliveries to a destination since a point in time",
    description:
      "A worker retries them in batches, oldest first; `GET` of the same path shows how far it is. With `dry_run`, the " +
      "deliveries are only counted, and the status is 200.",
    access: ownDestination,
    ...recoversDeliveries,
    example: { params, body: { since: 1_700_000_000 }, response: exampleRecovery },
  }),
  route({
    method: "GET",
    path: "/destinations/{id}/recover",
    id: "getDestinationRecovery",
    tag,
    summary: "Get the progress of the destination's last recovery",
    description: "404 if there was none.",
    access: ownDestination,
    ...readsRecovery,
    example: { params, response: { ...exampleRecovery, recovered: 12, state: "done" } },
  }),
  route({
    method: "POST",
    path: "/destinations/{id}/test",
    id: "testDestination",
    audit: "destination.tested",
    tag,
    summary: "Send a test event to a destination now",
    description:
      "Returns what the destination said. The test is not recorded. A disabled destination can be tested too.",
    access: ownDestination,
    ...sendsTest,
    example: { params, response: { status: 200, latency_ms: 3, error: null, response: "1700000000000-0" } },
  }),
];

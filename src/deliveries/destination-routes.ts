import { ownDestination } from "../destinations/find.ts";
import { accepted, data, page } from "../http/response.ts";
import { routeFor } from "../http/route.ts";
import type { Platform } from "../platform.ts";
import { sendTest } from "./attempt/send-test.ts";
import { exampleDelivery, exampleRecovery } from "./examples.ts";
import { listDeliveries } from "./list.ts";
import { readRecovery, requestRecovery } from "./request-recovery.ts";
import { DeliveryFilter, DeliveryView, RecoverBody, RecoveryView, TestResult } from "./schema.ts";

type Deps = Pick<
  Platform,
  | "mongo"
  | "redis"
  | "keys"
  | "queues"
  | "routing"
  | "log"
  | "metrics"
  | "egress"
  | "lastingConnections"
  | "sandboxes"
  | "secrets"
  | "config"
  | "clock"
>;

const route = routeFor<Deps>();
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
    query: DeliveryFilter,
    response: page(200, DeliveryView),
    example: { params, query: { state: "failed" }, response: { ...exampleDelivery, webhook_id: params.id } },
    handler: ({ deps, resource, query, page }) => listDeliveries(deps, resource, query, page),
  }),
  route({
    method: "POST",
    path: "/destinations/{id}/recover",
    id: "recoverDestinationDeliveries",
    tag,
    summary: "Retry all failed deliveries to a destination since a point in time",
    description:
      "A worker retries them in batches, oldest first; `GET` of the same path shows how far it is. With `dry_run`, the " +
      "deliveries are only counted, and the status is 200.",
    access: ownDestination,
    body: RecoverBody,
    response: accepted(202, RecoveryView),
    alsoStatus: 200,
    errors: ["conflict"],
    example: { params, body: { since: 1_700_000_000 }, response: exampleRecovery },
    handler: ({ deps, resource, body, ctx }) => {
      if (body.dry_run) ctx.status = 200;
      return requestRecovery(deps, resource, body);
    },
  }),
  route({
    method: "GET",
    path: "/destinations/{id}/recover",
    id: "getDestinationRecovery",
    tag,
    summary: "Get the progress of the destination's last recovery",
    description: "404 if there was none.",
    access: ownDestination,
    response: data(200, RecoveryView),
    example: { params, response: { ...exampleRecovery, recovered: 12, state: "done" } },
    handler: async ({ resource }) => readRecovery(resource),
  }),
  route({
    method: "POST",
    path: "/destinations/{id}/test",
    id: "testDestination",
    tag,
    summary: "Send a test event to a destination now",
    description:
      "Returns what the destination said. The test is not recorded. A disabled destination can be tested too.",
    access: ownDestination,
    response: data(200, TestResult),
    example: { params, response: { status: 200, latency_ms: 3, error: null, response: "1700000000000-0" } },
    handler: ({ deps, resource }) => sendTest(deps, resource),
  }),
];

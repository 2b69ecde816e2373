import { ownDestination } from "../destinations/find.ts";
import { routeFor } from "../http/route.ts";
import { exampleDelivery, exampleRecovery } from "./examples.ts";
import {
  type ListenerDeps,
  listsDeliveries,
  readsRecovery,
  recoversDeliveries,
  sendsTest,
} from "./listener-routes.ts";

const route = routeFor<ListenerDeps>();
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
    tag,
    summary: "Send a test event to a destination now",
    description:
      "Returns what the destination said. The test is not recorded. A disabled destination can be tested too.",
    access: ownDestination,
    ...sendsTest,
    example: { params, response: { status: 200, latency_ms: 3, error: null, response: "1700000000000-0" } },
  }),
];

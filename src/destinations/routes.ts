import { deployerOf } from "../components/deployer.ts";
import { accountListsFor } from "../http/account-lists.ts";
import { data, empty, page, routeFor } from "../http/route.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Calling, Working } from "../platform.ts";
import { exampleWebhook } from "../webhooks/present.ts";
import { WebhookFilter } from "../webhooks/schema.ts";
import {
  createDestination,
  deleteDestination,
  listDestinations,
  ownDestination,
  presentDestination,
  updateDestination,
} from "./destinations.ts";
import { KIND_NAMES } from "./kinds.ts";
import { DestinationChanges, DestinationView, NewDestinationBody, UpdatedDestination } from "./schema.ts";

const route = routeFor<Working & Calling>();
const accountLists = accountListsFor<Working & Calling>();
const tag = "Destinations";

const redis_stream = { url: "rediss://redis.example.com:6380", stream: "orders" };
const {
  format: _format,
  header_names: _names,
  signing: _signing,
  public_key: _key,
  ...common
} = exampleWebhook;
const example: DestinationView = {
  ...common,
  id: "ds_0CjBAEdF3kWq9RtZ",
  kind: "redis_stream",
  url: redis_stream.url,
  redis_stream: { ...redis_stream, username: "headwater", has_password: true, max_length: 100_000, ca: null },
};
const params = { id: example.id };

/** Routes that manage destinations (docs/rest-api.md#destinations). */
export const destinationRoutes = [
  route({
    method: "POST",
    path: "/destinations",
    id: "createDestination",
    audit: "destination.created",
    tag,
    summary: "Create a destination",
    description:
      "A destination receives events through subscriptions, as a webhook does, over another protocol. The body has the " +
      "settings of exactly one kind.",
    access: { kind: "owner" },
    body: NewDestinationBody,
    maxBodyBytes: LIMITS.componentBodyBytes.value,
    requiresOneOf: KIND_NAMES,
    response: data(201, DestinationView),
    errors: ["conflict", "limit-reached", "not-found", "unavailable"],
    links: { createSubscription: "listener_id" },
    example: {
      body: { name: "orders", redis_stream: { ...redis_stream, username: "headwater", password: "s3cret" } },
      response: example,
    },
    handler: request => {
      const { deps, body, owner, caller } = request;
      return createDestination(deps, { ...body, ownerId: owner, userId: caller.userId }, deployerOf(request));
    },
  }),
  ...accountLists({
    things: "destinations",
    tag,
    description: "The newest first. Secrets of their settings are never shown.",
    query: WebhookFilter,
    response: page(200, DestinationView),
    example: example,
    read: ({ deps, owner, query, page }) => listDestinations(deps, owner, query, page),
  }),
  route({
    method: "GET",
    path: "/destinations/{id}",
    id: "getDestination",
    tag,
    summary: "Get a destination",
    description: "Secrets of its settings are never shown.",
    access: ownDestination,
    response: data(200, DestinationView),
    example: { params, response: example },
    handler: async ({ deps, resource }) => presentDestination(deps, resource),
  }),
  route({
    method: "PUT",
    path: "/destinations/{id}",
    id: "updateDestination",
    audit: "destination.updated",
    tag,
    summary: "Update a destination",
    description:
      "Fields that are left out stay unchanged, also those of its settings; the `url` of another server, or another component of an action, removes " +
      "its secrets unless they are given again (`secrets_removed`). Pending deliveries go where the settings say when each attempt is made.",
    access: ownDestination,
    body: DestinationChanges,
    maxBodyBytes: LIMITS.componentBodyBytes.value,
    response: data(200, UpdatedDestination),
    errors: ["conflict", "limit-reached", "unavailable"],
    example: { params, body: { active: true }, response: { ...example, secrets_removed: [] } },
    handler: request => updateDestination(request.deps, request.resource, request.body, deployerOf(request)),
  }),
  route({
    method: "DELETE",
    path: "/destinations/{id}",
    id: "deleteDestination",
    audit: "destination.deleted",
    tag,
    summary: "Delete a destination",
    description: "Also deletes its subscriptions and cancels its pending deliveries.",
    access: ownDestination,
    response: empty(204),
    example: { params },
    handler: ({ deps, resource }) => deleteDestination(deps, resource),
  }),
];

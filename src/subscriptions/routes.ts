import { Type } from "typebox";
import { accountListsFor } from "../http/account-lists.ts";
import { data, empty, list, page, routeFor } from "../http/route.ts";
import type { Sandboxed, Stores } from "../platform.ts";
import { mapPage } from "../store/page.ts";
import { autoSubscribe, deleteAutoSubscription } from "./auto.ts";
import { ownAutoSubscription, ownSubscription } from "./find.ts";
import { listAutoSubscriptions, listSubscriptions } from "./list.ts";
import {
  presentAutoSubscription,
  presentAutoWithFunction,
  presentSubscriptions,
  presentWithFunction,
} from "./present.ts";
import {
  AutoSubscriptionFilter,
  AutoSubscriptionSchema,
  EventName,
  FilterSchema,
  FunctionCode,
  ListenerId,
  SubscriptionFilter,
  SubscriptionSchema,
} from "./schema.ts";
import { deleteSubscription, subscribe, unsubscribe, updateSubscription } from "./subscribe.ts";

const route = routeFor<Stores & Sandboxed>();
const accountLists = accountListsFor<Stores & Sandboxed>();
const tag = "Subscriptions";

const EmitterId = Type.String({
  minLength: 1,
  maxLength: 64,
  description:
    "Id of a workflow or source; `p_*` for all workflows, `dc_*` for all sources, or the id of an " +
    "organization for all of its workflows and sources; of a user or an organization for its alerts.",
});
const keyParams = Type.Object({
  emitter_id: EmitterId,
  listener_id: ListenerId,
  event_name: Type.Optional(EventName),
});

const keyOf = (query: { emitter_id: string; listener_id: string; event_name?: string }) => ({
  emitterId: query.emitter_id,
  listenerId: query.listener_id,
  eventName: query.event_name ?? "",
});

/** A subscription has no name: the audit log, which may outlive it, calls it after what it connects. */
const calledAfter = ({ emitter_id, listener_id }: { emitter_id: string; listener_id: string }) => ({
  name: `${emitter_id} → ${listener_id}`,
});

const exampleQuery = {
  emitter_id: "dc_0CjB9uPc7RfT1xLs",
  listener_id: "wh_0CjBAEdF3kWq9RtZ",
  event_name: "",
};
const shown = {
  id: "sub_0CjBBk2Zt5HnQ8wE",
  ...exampleQuery,
  emitter_name: "hello",
  listener_name: "orders",
  filter: { "issue.state": "open" },
  revision: 1,
};
const params = { id: shown.id };

export const subscriptionRoutes = [
  route({
    method: "POST",
    path: "/subscriptions",
    id: "createSubscription",
    audit: "subscription.saved",
    tag,
    summary: "Subscribe a listener to an emitter",
    description:
      "If the subscription exists, it is returned; if the request has a `filter` or a `function`, that replaces the existing " +
      "one. A `function` of null takes it away.",
    access: { kind: "owner" },
    query: keyParams,
    body: Type.Object({
      filter: Type.Optional(FilterSchema),
      function: Type.Optional(Type.Union([FunctionCode, Type.Null()])),
    }),
    response: data(200, SubscriptionSchema),
    errors: ["limit-reached", "not-found", "unavailable"],
    example: { query: exampleQuery, body: { filter: { "issue.state": "open" } }, response: shown },
    handler: async ({ deps, query, body, owner, owners, caller, changes }) => {
      changes(calledAfter(query));
      return presentWithFunction(
        deps,
        await subscribe(
          deps,
          { owner, owners, userId: caller.userId },
          { ...keyOf(query), filter: body.filter, code: body.function },
        ),
        owners,
      );
    },
  }),
  route({
    method: "DELETE",
    path: "/subscriptions",
    id: "deleteSubscription",
    audit: "subscription.deleted",
    tag,
    summary: "Delete a subscription",
    description: "`event_name` must be that of the subscription: empty if it was created without one.",
    access: { kind: "owner" },
    query: keyParams,
    response: empty(204),
    errors: ["not-found", "conflict"],
    example: { query: exampleQuery },
    handler: async ({ deps, query, owner, owners, caller, changes }) => {
      const ended = await unsubscribe(deps, { owner, owners, userId: caller.userId }, keyOf(query));
      changes({ id: ended._id, ownerId: ended.owner_id, ...calledAfter(query) });
    },
  }),
  route({
    method: "GET",
    path: "/subscriptions/{id}",
    id: "getSubscription",
    tag,
    summary: "Get a subscription",
    description: "With its filter and its function.",
    access: ownSubscription,
    response: data(200, SubscriptionSchema),
    example: { params, response: shown },
    handler: ({ deps, resource, owners }) => presentWithFunction(deps, resource, owners),
  }),
  route({
    method: "PUT",
    path: "/subscriptions/{id}",
    id: "updateSubscription",
    audit: "subscription.updated",
    tag,
    summary: "Change a subscription",
    description:
      "Changes its filter and its function, whichever of your accounts it belongs to. What is left out stays, and null " +
      "removes it. Another emitter, listener or channel is another subscription.",
    access: ownSubscription,
    body: Type.Object({
      filter: Type.Optional(Type.Union([FilterSchema, Type.Null()])),
      function: Type.Optional(Type.Union([FunctionCode, Type.Null()])),
    }),
    response: data(200, SubscriptionSchema),
    errors: ["unavailable"],
    example: { params, body: { filter: { "issue.state": "open" } }, response: shown },
    handler: async ({ deps, resource, body, owners, changes }) => {
      changes(calledAfter(resource));
      return presentWithFunction(deps, await updateSubscription(deps, resource, body), owners);
    },
  }),
  route({
    method: "DELETE",
    path: "/subscriptions/{id}",
    id: "deleteSubscriptionById",
    audit: "subscription.deleted",
    tag,
    summary: "Delete a subscription by its id",
    description: "Deliveries that wait end as `subscription-deleted`.",
    access: ownSubscription,
    response: empty(204),
    example: { params },
    handler: ({ deps, resource, changes }) => {
      changes(calledAfter(resource));
      return deleteSubscription(deps, resource);
    },
  }),
  ...accountLists({
    things: "subscriptions",
    tag,
    description: "All of them in one list, without pages.",
    query: SubscriptionFilter,
    errors: ["not-found"],
    response: list(200, SubscriptionSchema),
    example: shown,
    read: async ({ deps, owner, owners, query, page }) => {
      const found = await listSubscriptions(deps, { owner, owners }, query, page);
      return { ...found, rows: await presentSubscriptions(deps, found.rows, owners) };
    },
  }),
];

const shownAuto = {
  id: "asub_0CjBBn4Yt7KqS0xG",
  event_name: "$errors",
  listener_id: "wh_0CjBAEdF3kWq9RtZ",
} as const;

/** Routes of the subscriptions that an account asked for in advance (docs/rest-api.md#subscriptions). */
export const autoSubscriptionRoutes = [
  route({
    method: "POST",
    path: "/auto_subscriptions",
    id: "createAutoSubscription",
    audit: "auto_subscription.saved",
    tag,
    summary: "Subscribe a listener to future workflows and sources",
    description:
      "Applies to workflows and sources created from now on; those that exist need `POST /subscriptions`. With a " +
      "`function`, the subscriptions that it creates get it; null takes it away.",
    access: { kind: "owner" },
    query: Type.Object({
      event_name: Type.Union([Type.Literal("$errors"), Type.Literal("$logs")]),
      listener_id: ListenerId,
    }),
    body: Type.Object({ function: Type.Optional(Type.Union([FunctionCode, Type.Null()])) }),
    response: data(200, AutoSubscriptionSchema),
    errors: ["limit-reached", "not-found", "unavailable"],
    example: {
      query: { event_name: "$errors", listener_id: shownAuto.listener_id },
      response: shownAuto,
    },
    handler: async ({ deps, query, body, owner, owners, caller }) => {
      const subscriber = { owner, owners, userId: caller.userId };
      const wanted = { listenerId: query.listener_id, eventName: query.event_name, code: body.function };
      return presentAutoWithFunction(deps, await autoSubscribe(deps, subscriber, wanted));
    },
  }),
  ...accountLists({
    things: "auto_subscriptions",
    tag,
    description: "The rules that subscribe a listener to sources and workflows that are created later.",
    query: AutoSubscriptionFilter,
    response: page(200, AutoSubscriptionSchema),
    example: shownAuto,
    read: async ({ deps, owner, owners, query, page }) =>
      mapPage(await listAutoSubscriptions(deps, { owner, owners }, query, page), presentAutoSubscription),
  }),
  route({
    method: "DELETE",
    path: "/auto_subscriptions/{id}",
    id: "deleteAutoSubscription",
    audit: "auto_subscription.deleted",
    tag,
    summary: "Delete an auto subscription",
    description: "The subscriptions that it has created stay.",
    access: ownAutoSubscription,
    response: empty(204),
    example: { params: { id: shownAuto.id } },
    handler: ({ deps, resource }) => deleteAutoSubscription(deps, resource),
  }),
];

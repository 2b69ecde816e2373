import { Type } from "typebox";
import { data, empty, page } from "../http/response.ts";
import { routeFor } from "../http/route.ts";
import { mapPage } from "../store/page.ts";
import { autoSubscribe, deleteAutoSubscription } from "./auto.ts";
import { listAutoSubscriptions, ownAutoSubscription } from "./find.ts";
import { presentAutoSubscription, presentAutoWithFunction } from "./present.ts";
import { AutoSubscriptionSchema, FunctionCode, ListenerId } from "./schema.ts";
import type { SubscribeDeps } from "./subscribe.ts";

const route = routeFor<SubscribeDeps>();
const tag = "Subscriptions";

const shown = {
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
      query: { event_name: "$errors", listener_id: shown.listener_id },
      response: shown,
    },
    handler: async ({ deps, query, body, owner, owners, caller }) => {
      const subscriber = { owner, owners, userId: caller.userId };
      const wanted = { listenerId: query.listener_id, eventName: query.event_name, code: body.function };
      return presentAutoWithFunction(deps, await autoSubscribe(deps, subscriber, wanted));
    },
  }),
  route({
    method: "GET",
    path: "/users/me/auto_subscriptions",
    id: "listMyAutoSubscriptions",
    tag,
    summary: "List your auto subscriptions",
    description: "The rules that subscribe a listener to sources and workflows that are created later.",
    access: { kind: "owner" },
    response: page(200, AutoSubscriptionSchema),
    example: { response: shown },
    handler: async ({ deps, owner, page }) =>
      mapPage(await listAutoSubscriptions(deps, owner, page), presentAutoSubscription),
  }),
  route({
    method: "GET",
    path: "/orgs/{org_id}/auto_subscriptions",
    id: "listOrganizationAutoSubscriptions",
    tag,
    summary: "List an organization's auto subscriptions",
    description: "The rules that subscribe a listener to sources and workflows that are created later.",
    access: { kind: "member" },
    response: page(200, AutoSubscriptionSchema),
    example: { params: { org_id: "o_0CjB8tYr3KpL7xVd" }, response: shown },
    handler: async ({ deps, owner, page }) =>
      mapPage(await listAutoSubscriptions(deps, owner, page), presentAutoSubscription),
  }),
  route({
    method: "DELETE",
    path: "/auto_subscriptions/{id}",
    id: "deleteAutoSubscription",
    tag,
    summary: "Delete an auto subscription",
    description: "The subscriptions that it has created stay.",
    access: ownAutoSubscription,
    response: empty(204),
    example: { params: { id: shown.id } },
    handler: ({ deps, resource }) => deleteAutoSubscription(deps, resource),
  }),
];

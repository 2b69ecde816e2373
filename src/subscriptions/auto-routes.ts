import { Type } from "typebox";
import type { LimitDeps } from "../accounts/limits.ts";
import { data, empty, page } from "../http/response.ts";
import { routeFor } from "../http/route.ts";
import type { AutoSubscription } from "../models/subscription.ts";
import { mapPage } from "../store/page.ts";
import { autoSubscribe, deleteAutoSubscription } from "./auto.ts";
import { ownAutoSubscription } from "./find.ts";
import { listAutoSubscriptions } from "./list.ts";
import { AutoSubscriptionSchema, ListenerId } from "./schema.ts";

const route = routeFor<LimitDeps>();
const tag = "Subscriptions";

const present = ({ _id, listener_id, event_name }: AutoSubscription) => ({
  id: _id,
  listener_id,
  event_name,
});

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
      "Applies to workflows and sources created from now on; those that exist need `POST /subscriptions`.",
    access: { kind: "owner" },
    query: Type.Object({
      event_name: Type.Union([Type.Literal("$errors"), Type.Literal("$logs")]),
      listener_id: ListenerId,
    }),
    response: data(200, AutoSubscriptionSchema),
    errors: ["limit-reached", "not-found"],
    example: {
      query: { event_name: "$errors", listener_id: shown.listener_id },
      response: shown,
    },
    handler: async ({ deps, query, owner, owners, caller }) => {
      const subscriber = { owner, owners, userId: caller.userId };
      const key = { listenerId: query.listener_id, eventName: query.event_name };
      return present(await autoSubscribe(deps, subscriber, key));
    },
  }),
  route({
    method: "GET",
    path: "/users/me/auto_subscriptions",
    id: "listMyAutoSubscriptions",
    tag,
    summary: "List your auto subscriptions",
    access: { kind: "owner" },
    response: page(200, AutoSubscriptionSchema),
    example: { response: shown },
    handler: async ({ deps, owner, page }) =>
      mapPage(await listAutoSubscriptions(deps, owner, page), present),
  }),
  route({
    method: "GET",
    path: "/orgs/{org_id}/auto_subscriptions",
    id: "listOrganizationAutoSubscriptions",
    tag,
    summary: "List an organization's auto subscriptions",
    access: { kind: "member" },
    response: page(200, AutoSubscriptionSchema),
    example: { params: { org_id: "o_0CjB8tYr3KpL7xVd" }, response: shown },
    handler: async ({ deps, owner, page }) =>
      mapPage(await listAutoSubscriptions(deps, owner, page), present),
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

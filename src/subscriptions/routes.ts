import { Type } from "typebox";
import { data, empty, list } from "../http/response.ts";
import { routeFor } from "../http/route.ts";
import type { Subscription } from "../models/subscription.ts";
import type { Platform } from "../platform.ts";
import { AutoSubscriptionSchema, EventName, FilterSchema, SubscriptionSchema } from "./schema.ts";
import { autoSubscribe, listSubscriptions, subscribe, unsubscribe } from "./service.ts";

const route = routeFor<Pick<Platform, "mongo" | "routing" | "clock">>();
const tag = "Subscriptions";

const EmitterId = Type.String({
  minLength: 1,
  maxLength: 64,
  description:
    "A workflow or source id; `p_*` means all workflows, `dc_*` all sources, an organization's id all of its emitters.",
});
const ListenerId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "Id of the receiving webhook, source or workflow.",
});

const present = ({ _id, emitter_id, listener_id, event_name, filter }: Subscription) => ({
  id: _id,
  emitter_id,
  listener_id,
  event_name,
  ...(filter !== null && { filter: JSON.parse(filter) as Record<string, unknown> }),
});

const subscription = Type.Object({
  emitter_id: EmitterId,
  listener_id: ListenerId,
  event_name: Type.Optional(EventName),
});

const wanted = (query: { emitter_id: string; listener_id: string; event_name?: string }) => ({
  emitterId: query.emitter_id,
  listenerId: query.listener_id,
  eventName: query.event_name ?? "",
});

const exampleQuery = {
  emitter_id: "dc_0CjB9uPc7RfT1xLs",
  listener_id: "wh_0CjBAEdF3kWq9RtZ",
  event_name: "",
};
const shown = { id: "sub_0CjBBk2Zt5HnQ8wE", ...exampleQuery, filter: { "issue.state": "open" } };

export const subscriptionRoutes = [
  route({
    method: "POST",
    path: "/subscriptions",
    id: "createSubscription",
    tag,
    summary: "Subscribe a listener to an emitter",
    description:
      "The same subscription again answers the existing one, with its filter replaced when one is given.",
    access: { kind: "owner" },
    query: subscription,
    body: Type.Object({ filter: Type.Optional(FilterSchema) }),
    response: data(200, SubscriptionSchema),
    errors: ["not-found"],
    example: { query: exampleQuery, body: { filter: { "issue.state": "open" } }, response: shown },
    handler: async ({ deps, query, body, owner, owners, caller }) =>
      present(
        await subscribe(
          deps,
          { owner, owners, userId: caller.userId },
          { ...wanted(query), filter: body.filter },
        ),
      ),
  }),
  route({
    method: "DELETE",
    path: "/subscriptions",
    id: "deleteSubscription",
    tag,
    summary: "End a subscription",
    description: "`event_name` is the value stored on the subscription: empty when none was set.",
    access: { kind: "owner" },
    query: subscription,
    response: empty(204),
    errors: ["not-found"],
    example: { query: exampleQuery },
    handler: ({ deps, query, owner, owners, caller }) =>
      unsubscribe(deps, { owner, owners, userId: caller.userId }, wanted(query)),
  }),
  route({
    method: "POST",
    path: "/auto_subscriptions",
    id: "createAutoSubscription",
    tag,
    summary: "Subscribe a listener to emitters created from now on",
    description: "Workflows and sources that exist already need `POST /subscriptions`.",
    access: { kind: "owner" },
    query: Type.Object({
      event_name: Type.Union([Type.Literal("$errors"), Type.Literal("$logs")]),
      listener_id: ListenerId,
    }),
    response: data(200, AutoSubscriptionSchema),
    errors: ["not-found"],
    example: {
      query: { event_name: "$errors", listener_id: exampleQuery.listener_id },
      response: {
        id: "asub_0CjBBn4Yt7KqS0xG",
        event_name: "$errors",
        listener_id: exampleQuery.listener_id,
      },
    },
    handler: async ({ deps, query, owner, owners, caller }) => {
      const subscriber = { owner, owners, userId: caller.userId };
      const { _id, listener_id, event_name } = await autoSubscribe(deps, subscriber, {
        listenerId: query.listener_id,
        eventName: query.event_name,
      });
      return { id: _id, listener_id, event_name };
    },
  }),
  route({
    method: "GET",
    path: "/users/me/subscriptions",
    id: "listMySubscriptions",
    tag,
    summary: "List your subscriptions",
    access: { kind: "owner" },
    response: list(200, SubscriptionSchema),
    example: { response: shown },
    handler: async ({ deps, owner }) => (await listSubscriptions(deps, owner)).map(present),
  }),
  route({
    method: "GET",
    path: "/orgs/{org_id}/subscriptions",
    id: "listOrganizationSubscriptions",
    tag,
    summary: "List an organization's subscriptions",
    access: { kind: "member" },
    response: list(200, SubscriptionSchema),
    example: { params: { org_id: "o_0CjB8tYr3KpL7xVd" }, response: shown },
    handler: async ({ deps, owner }) => (await listSubscriptions(deps, owner)).map(present),
  }),
];

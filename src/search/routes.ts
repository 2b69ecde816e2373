import { data, routeFor } from "../http/route.ts";
import type { Stores } from "../platform.ts";
import { SearchQuery, SearchResult } from "./schema.ts";
import { search } from "./search.ts";

const route = routeFor<Stores>();

const example: SearchResult = {
  hits: [
    {
      kind: "webhook",
      id: "wh_0CjBAEdF3kWq9RtZ",
      name: "orders",
      detail: "https://example.com/hooks/orders",
      state: "failing",
      why: "name",
      at_ms: 1_700_000_000_000,
    },
  ],
  partial: false,
};

/** The search over everything that an account owns (docs/rest-api.md#search). */
export const searchRoutes = [
  route({
    method: "GET",
    path: "/search",
    id: "search",
    tag: "Search",
    summary: "Find things by id, name, address or words of a payload",
    description:
      "Finds what you own and what your organizations own; with `org_id` only what that organization owns. Ids of every kind are " +
      "found, whole or by their beginning: also a `webhook-id`, which is the id of a delivery, an event id and an emit id. At most 8 " +
      "things of a kind and 50 in all. Words of payloads find deliveries to the webhooks of the account, if this server " +
      "finds payloads.",
    access: { kind: "owner" },
    query: SearchQuery,
    response: data(200, SearchResult),
    example: { query: { q: "orders" }, response: example },
    handler: ({ deps, query: { q }, owner, owners, caller }) =>
      search(deps, { q, owner, owners, userId: caller.userId }),
  }),
];

import { data, routeFor } from "../http/route.ts";
import type { Queued, Stores } from "../platform.ts";
import { readAttention } from "./attention.ts";
import { readQueues } from "./queues.ts";
import { exampleQueues, QueuesView } from "./queues-schema.ts";
import { AttentionView, exampleAttention } from "./schema.ts";

const route = routeFor<Stores & Queued>();

/** What needs somebody now, and what waits. */
export const attentionRoutes = [
  route({
    method: "GET",
    path: "/attention",
    id: "getAttention",
    tag: "Issues",
    summary: "Get what needs somebody now",
    description:
      "Of each kind the newest 20, with since when and why, and how many there are: webhooks and destinations that are disabled or " +
      "fail, open issues, failing sources, connections that do not work, deliveries that wait for a retry, quotas. A failure shows " +
      "within seconds.",
    access: { kind: "owner" },
    response: data(200, AttentionView),
    example: { response: exampleAttention },
    handler: ({ deps, owner }) => readAttention(deps, owner),
  }),
  route({
    method: "GET",
    path: "/queues",
    id: "getQueues",
    tag: "Issues",
    summary: "Get what waits in queues",
    description:
      "Of the account: deliveries by webhook or destination, runs by source, and what is on its way between them. Since when the " +
      "first of each waits. It is counted when it is asked for.",
    access: { kind: "owner" },
    response: data(200, QueuesView),
    example: { response: exampleQueues },
    handler: ({ deps, owner }) => readQueues(deps, owner),
  }),
];

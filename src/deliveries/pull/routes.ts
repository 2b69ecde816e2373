import { data, routeFor } from "../../http/route.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Awaited, Stores } from "../../platform.ts";
import { cursorOf } from "./cursor.ts";
import { findPulled, pullEvents } from "./pull.ts";
import { Pulled, PullQuery } from "./schema.ts";

const route = routeFor<Stores & Awaited>();
const id = "ds_0CjBAEdF3kWq9RtZ";
const example: Pulled = {
  events: [
    {
      id: "dlv_0CjBBm3Xs6JpR9wF",
      event_id: "1700000000000-0",
      emitter_id: "dc_0CjB9uPc7RfT1xLs",
      event_name: "",
      emitted_at_ms: 1_700_000_000_000,
      event: { order: 1 },
      cursor: cursorOf(id, 1),
    },
  ],
  cursor: cursorOf(id, 1),
  truncated: false,
  has_more: false,
};

/** The route by which a program asks for the events that a destination of kind `pull` keeps for it. */
export const pullRoutes = [
  route({
    method: "GET",
    path: "/listeners/{id}/events",
    id: "pullEvents",
    tag: "Destinations",
    summary: "Pull the events that are kept for a program",
    description:
      "Of a destination of kind `pull`, in the order in which they were kept. The `cursor` of a response, as `after` of the next " +
      "request, acknowledges its events; those that are not acknowledged are returned again. With `wait`, a request waits for an " +
      "event if there is none, and then returns without one. To acknowledge events takes the role `member`.",
    access: { kind: "resource", what: "listener", load: findPulled },
    query: PullQuery,
    response: data(200, Pulled),
    example: { params: { id }, query: { limit: 10 }, response: example },
    async handler({ deps, resource, query, caller, ctx }) {
      const left = new AbortController();
      const onClose = () => left.abort();
      ctx.res.once("close", onClose);
      try {
        const { after, limit = LIMITS.pageRows.value, wait = 0 } = query;
        return await pullEvents(deps, resource, {
          ...{ after, limit, waitMs: wait * 1000 },
          caller,
          signal: left.signal,
        });
      } finally {
        ctx.res.off("close", onClose);
      }
    },
  }),
];

import { defineLimits } from "./limit.ts";

/** Bounds of the events that apps send (docs/connections.md#events-of-an-app). */
export const APP_EVENT_LIMITS = defineLimits({
  appEventListeners: {
    value: 100,
    unit: "count",
    per: "connection",
    what: "sources that listen to the events of one connection, active or not",
    beyond: "403 `limit-reached`",
  },
  eventNames: {
    value: 100,
    unit: "count",
    per: "source",
    what: "names of an app's events that a source listens to",
    beyond: "400 `invalid`",
  },
  eventNameChars: {
    value: 200,
    unit: "characters",
    per: "value",
    what: "name of an app's event; a longer one in a request is none",
    beyond: "400 `invalid`",
  },
  eventNamesMs: {
    value: 10_000,
    unit: "ms",
    per: "request",
    what: "a component's function `eventNames`, while a source is deployed",
    beyond: "400 `invalid`",
  },
});

import { defineLimits, KB } from "./limit.ts";

/** Bounds of functions on subscriptions (docs/functions.md). */
export const FUNCTION_LIMITS = defineLimits({
  functionBytes: {
    value: 64 * KB,
    unit: "bytes",
    per: "value",
    what: "code of a function on a subscription",
    beyond: "400 `invalid`",
  },
  functionMs: {
    value: 1000,
    unit: "ms",
    per: "value",
    what: "time of a function for one event",
    beyond: "the attempt has failed (`function: it ran longer than 1000 ms`)",
  },
  functionCallMs: {
    value: 10_000,
    unit: "ms",
    per: "value",
    what: "time of one call of a function with many events",
    beyond: "the events that are left come again with another call",
  },
  functionCallsPerAccount: {
    value: 8,
    unit: "count",
    per: "account and process",
    what: "calls of functions at once",
    beyond: "the events come again later",
  },
  functionCalls: {
    value: 32,
    unit: "count",
    per: "process",
    what: "calls of functions at once",
    beyond: "the events come again later",
  },
  functionLogBytes: {
    value: 4 * KB,
    unit: "bytes",
    per: "value",
    what: "lines that a function writes to `console` for one event, of which those of the last error are kept",
    beyond: "left out",
  },
  functionTestEvents: {
    value: 10,
    unit: "count",
    per: "request",
    what: "events that a function is tried with",
    beyond: "400 `invalid`; of an emitter, the last ones",
  },
});

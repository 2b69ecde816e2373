import { defineLimits, KB, MB } from "./limit.ts";

/** Bounds of what one web process holds open or in memory for those who send requests. */
export const REQUEST_LIMITS = defineLimits({
  openConnections: {
    value: 10_000,
    unit: "count",
    per: "process",
    what: "open connections of one web process",
    beyond: "new ones are closed, and counted (`connections_rejected_total`)",
  },
  headBytes: {
    value: 16 * KB,
    unit: "bytes",
    per: "request",
    what: "request line and headers",
    beyond: "431 `headers-too-large`, and the connection is closed",
  },
  ingressPerSecond: {
    value: 0,
    unit: "per second",
    per: "source",
    what: "requests for its endpoint; 0 for no limit",
    beyond: "429 `rate-limited`",
    setting: "RATE_LIMITS",
  },
  headersArriveMs: {
    value: 60_000,
    unit: "ms",
    per: "request",
    what: "time in which the headers of a request must arrive",
    beyond: "408 `too-slow`, and the connection is closed",
  },
  requestArrivesMs: {
    value: 120_000,
    unit: "ms",
    per: "request",
    what: "time in which a request must arrive, with its body",
    beyond: "408 `too-slow`, and the connection is closed",
  },
  publicBodyBytes: {
    value: 16 * KB,
    unit: "bytes",
    per: "request",
    what: "body of an API request that needs no key, such as a sign-in, after decompression",
    beyond: "413 `too-large`",
  },
  drainedBytes: {
    value: 256 * KB,
    unit: "bytes",
    per: "request",
    what: "body of a request that is responded to before it has arrived, such as a rejected one, whose connection stays open",
    beyond: "the connection is closed after the response, which says so",
  },
  drainMs: {
    value: 3000,
    unit: "ms",
    per: "request",
    what: "time for which what is left of such a body is read and thrown away",
    beyond: "the connection is closed",
  },
  requestsInProgress: {
    value: 2000,
    unit: "count",
    per: "account and process",
    what: "requests for sources whose body is being read, or that wait for the component's response",
    beyond: "429 `rate-limited`",
  },
  ingressBytesOfAccount: {
    value: 32 * MB,
    unit: "bytes",
    per: "account and process",
    what: "bodies of requests for sources, as far as they have arrived, until their runs wait",
    beyond: "429 `rate-limited`",
  },
  ingressBytes: {
    value: 128 * MB,
    unit: "bytes",
    per: "process",
    what: "bodies of requests for sources, as far as they have arrived, until their runs wait",
    beyond: "503 `unavailable`",
  },
});

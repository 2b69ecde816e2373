import { defineLimits, KB } from "./limit.ts";

/** Bounds of what agents read and subscribe to over the Model Context Protocol: a model pays for each word. */
export const AGENT_LIMITS = defineLimits({
  toolRows: {
    value: 20,
    unit: "count",
    per: "request",
    what: "rows of a list that a tool shows an agent",
    beyond: "`next_cursor` names the next page",
  },
  toolBytes: {
    value: 64 * KB,
    unit: "bytes",
    per: "request",
    what: "result of a tool, as its rows share it",
    beyond: "long texts and lists in a row are cut, and the result says `truncated`",
  },
  mcpSubscriptions: {
    value: 1000,
    unit: "count",
    per: "account",
    what: "subscriptions of agents; not counted as webhooks, but as subscriptions",
    beyond: "error -32013 (ResourceExhausted)",
  },
  mcpSubscriptionsPerKey: {
    value: 200,
    unit: "count",
    per: "key",
    what: "subscriptions that an agent made with it in one account",
    beyond: "error -32013 (ResourceExhausted)",
  },
  mcpChallenges: {
    value: 60,
    unit: "per minute",
    per: "key",
    what: "callbacks of agents that are asked whether they want events",
    beyond: "error -32013 (ResourceExhausted)",
  },
  mcpChallengesOfHost: {
    value: 300,
    unit: "per minute",
    per: "callback host",
    what: "callbacks that are asked so for the first time, by all accounts together",
    beyond: "error -32013 (ResourceExhausted); subscriptions that are there are refreshed",
  },
  mcpChallengeBytes: {
    value: 64 * KB,
    unit: "bytes",
    per: "request",
    what: "a callback's response to that",
    beyond: "error -32015 (CallbackEndpointError)",
  },
  mcpArgumentsBytes: {
    value: 8 * KB,
    unit: "bytes",
    per: "value",
    what: "arguments of an agent's subscription, as JSON",
    beyond: "error -32602 (InvalidParams)",
  },
  mcpEventTypes: {
    value: 100,
    unit: "count",
    per: "account",
    what: "sources that `events/list` has an event type of their own for",
    beyond: "a source is named in the arguments of `source.event`",
  },
  mcpEventBytes: {
    value: 256 * KB,
    unit: "bytes",
    per: "value",
    what: "an event as agents get it",
    beyond: "it comes without its value, and says `truncated`",
  },
});

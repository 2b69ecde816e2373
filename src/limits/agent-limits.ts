import { defineLimits, KB } from "./limit.ts";

/** Bounds of what agents read over the Model Context Protocol: a model pays for each word. */
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
});

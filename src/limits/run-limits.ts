import { CHANNEL_CHARS, EMIT_ID_CHARS } from "./emit-limits.ts";
import { defineLimits, MB } from "./limit.ts";

const INVALID = "400 `invalid`";

/** Bounds of runs, of the sandboxes in which they happen, and of components. */
export const RUN_LIMITS = defineLimits({
  runMs: {
    value: 300_000,
    unit: "ms",
    per: "run",
    what: "time of a run, on the clock and of the processor",
    beyond: "the run ends with `Timeout`",
    setting: "RUN_TIMEOUT",
  },
  hookMs: {
    value: 60_000,
    unit: "ms",
    per: "run",
    what: "time of a hook",
    beyond: "the hook ends with `Timeout`, and the change that calls it fails",
    setting: "HOOK_TIMEOUT",
  },
  httpResponseMs: {
    value: 30_000,
    unit: "ms",
    per: "request",
    what: "time in which a component may respond to a request for its source",
    beyond: "504 `timeout`",
    setting: "HTTP_RESPONSE_TIMEOUT",
  },
  runHeapBytes: {
    value: 256 * MB,
    unit: "bytes",
    per: "sandbox",
    what: "heap of a component; buffers and the like may take 192 MB beside it",
    beyond: "the run ends with `Out of Memory`",
    setting: "RUN_HEAP_MB",
  },
  sandboxes: {
    value: 16,
    unit: "count",
    per: "process",
    what: "runs at a time in one worker, each in its sandbox",
    beyond: "waits; accounts are served in turn",
    setting: "SANDBOX_PROCESSES",
  },
  sandboxDiskBytes: {
    value: 64 * MB,
    unit: "bytes",
    per: "sandbox",
    what: "files of a component in its private folder, and of its runtime",
    beyond: "the sandbox is ended, and its run fails",
  },
  sandboxFiles: {
    value: 2000,
    unit: "count",
    per: "sandbox",
    what: "files and folders there",
    beyond: "the sandbox is ended, and its run fails",
  },
  sandboxConnections: {
    value: 64,
    unit: "count",
    per: "sandbox",
    what: "open connections of a component",
    beyond: "a further one fails, which the component sees",
  },
  accountSharePercent: {
    value: 75,
    unit: "percent",
    per: "account and process",
    what: "a worker's slots, and its sandboxes, that are in use at a time",
    beyond: "waits; accounts are served in turn",
  },
  channelCharacters: {
    value: CHANNEL_CHARS,
    unit: "characters",
    per: "value",
    what: "name of a channel",
    beyond: "400 `invalid`; `$emit` throws",
  },
  emitIdCharacters: {
    value: EMIT_ID_CHARS,
    unit: "characters",
    per: "value",
    what: "`id` of an emitted event",
    beyond: "`$emit` throws",
  },
  props: {
    value: 200,
    unit: "count",
    per: "component",
    what: "props, those of apps included",
    beyond: INVALID,
  },
  packageFileBytes: {
    value: 50 * MB,
    unit: "bytes",
    per: "component",
    what: "one file of an npm package that its bundle holds",
    beyond: INVALID,
  },
  packageFiles: {
    value: 5000,
    unit: "count",
    per: "component",
    what: "files of npm packages that its bundle holds",
    beyond: INVALID,
  },
});

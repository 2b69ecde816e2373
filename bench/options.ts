import { parse, positive, settingOf, UsageError } from "./entry.ts";
import { processNames } from "./headwater.ts";
import { PEER_NAMES, type PeerName } from "./peers/peers.ts";
import type { RawFront } from "./raw.ts";
import type { Publish } from "./targets.ts";
import type { TimerLoad } from "./timers.ts";
import { ALL_WORKLOADS, isComparedWithPeers } from "./workloads.ts";

export const HELP = `Usage: npm run bench -- [workloads] [options]

Starts Headwater as in production (built files, one process per Procfile line, default settings) on a MongoDB and a
Redis of its own, with a sender and a receiver in separate processes. Before W1 to W4 it measures the raw limit of
this stack for comparison: node:http -> BullMQ add -> Worker -> undici POST. Every event is 1 KiB of JSON.

  P1  publish: 20,000 requests to the API, of one event each, to one webhook
  P2  publish: 2,000 requests, to 10 webhooks
  P3  publish: 100 requests a second for 30 s
  W1  throughput: 20,000 emissions to one webhook
  W2  fan-out: 2,000 emissions to 10 webhooks
  W3  latency: 100 emissions a second for 30 s
  W4  ingress: 20,000 HTTP requests to a source, through its component, to one webhook
  W5  growth: W1 as new, then with 1,000,000 deliveries to be retried later, 100,000 subscriptions and 10,000 sources added in turn
  W6  the same as W4, 100 requests a second for 30 s
  W7  timers: 1,000 sources of 10 accounts that tick each minute, spread over it, and then all on the same second
  W8  waitlist: 5,000 deliveries to an endpoint that takes 3 s, measured from the moment it responds at once

Runs all unless workloads are named.

  --events N       number of events (P3, W3, W6: 100 for each second; W5: in each of its four parts)
  --sources N      number of W7's sources (default 1000)
  --accounts N     number of accounts, with a component each, that W7's sources are divided between (default 10)
  --minutes N      how long each part of W7 is measured, after a minute of warm-up (default 3)
  --senders N      number of senders at the same time (default 64)
  --raw FRONT      http (default); add: the sender fills the raw queue itself; none: without the raw limit
  --publish HOW    batched (default): by Headwater's publisher; single: one BullMQ job per event, as other clients do
  --peer NAME      measures node-red or n8n after Headwater in W4 and W6, under the same load; may be repeated. The
                   first use installs it with npm below .cache/peers (n8n takes some 3 GB, and needs PostgreSQL); the
                   exit code is 1 if that, or its measurement, fails
  --small          runs what npm start runs, the web process and one for all queues (Procfile.small)
  --node VERSION   runs Headwater's processes and the raw limit's on another Node, such as 24, from the npm registry
  --set NAME=VALUE a setting of Headwater (see .env.example); may be repeated
  --profile NAME   writes a .cpuprofile of one process: web, runs, emissions, deliveries or deletions;
                   with --small web or workers
  --json FILE      writes all figures as JSON

Latency is from the moment before an event is sent until it is received, so it includes its acceptance. CPU seconds are
those of whole processes, user and kernel, until every record is written. Linux only (/proc).

  npm run bench:lists       every list, filter and search of a crowded account; pages of a list of a million rows; ingress
                            compared with a bare node:http server
  npm run bench:runs        sandboxes: cold start, warm run, runs a second, memory
  npm run bench:saves       saving a component, and what other callers notice of it`;

export interface Options {
  workloads: readonly (typeof ALL_WORKLOADS)[number][];
  events: number | undefined;
  timers: TimerLoad;
  senders: number;
  raw: RawFront | "none";
  publish: Publish;
  peers: PeerName[];
  node: string | undefined;
  small: boolean;
  settings: Record<string, string>;
  profile: string | undefined;
  json: string | undefined;
}

/** Reads the command line. Throws UsageError. */
export function readOptions(args: string[]): Options {
  const { values, positionals } = parse({
    args,
    allowPositionals: true,
    options: {
      events: { type: "string" },
      sources: { type: "string", default: "1000" },
      accounts: { type: "string", default: "10" },
      minutes: { type: "string", default: "3" },
      senders: { type: "string", default: "64" },
      raw: { type: "string", default: "http" },
      publish: { type: "string", default: "batched" },
      peer: { type: "string", multiple: true, default: [] },
      node: { type: "string" },
      small: { type: "boolean", default: false },
      set: { type: "string", multiple: true, default: [] },
      profile: { type: "string" },
      json: { type: "string" },
    },
  });
  const workloads =
    positionals.length > 0 ? positionals.map(name => oneOf(ALL_WORKLOADS, name, "workload")) : ALL_WORKLOADS;
  const peers = [...new Set(values.peer.map(name => oneOf(PEER_NAMES, name, "--peer")))];
  if (peers.length > 0 && !workloads.some(isComparedWithPeers))
    throw new UsageError("--peer needs W4 or W6, which other products can do too");
  return {
    workloads,
    events: values.events === undefined ? undefined : positive(values.events, "--events"),
    timers: {
      sources: positive(values.sources, "--sources"),
      accounts: positive(values.accounts, "--accounts"),
      minutes: positive(values.minutes, "--minutes"),
    },
    senders: positive(values.senders, "--senders"),
    raw: oneOf(["http", "add", "none"] as const, values.raw, "--raw"),
    publish: oneOf(["batched", "single"] as const, values.publish, "--publish"),
    peers,
    node: values.node,
    small: values.small,
    settings: Object.fromEntries(values.set.map(settingOf)),
    profile:
      values.profile === undefined
        ? undefined
        : oneOf(processNames(values.small), values.profile, "--profile"),
    json: values.json,
  };
}

function oneOf<Name extends string>(names: readonly Name[], value: string, what: string): Name {
  const found = names.find(name => name === value);
  if (!found) throw new UsageError(`${what} must be one of ${names.join(", ")}, not "${value}"`);
  return found;
}

import { parse, positive, settingOf, UsageError } from "./entry.ts";
import { PROCESS_NAMES } from "./headwater.ts";
import type { RawFront } from "./raw.ts";
import type { Publish } from "./targets.ts";
import { ALL_WORKLOADS, type WorkloadName } from "./workloads.ts";

export const HELP = `Usage: npm run bench -- [workloads] [options]

Starts Headwater's processes as in production (built files, a process each, default settings) on a MongoDB and a Redis
of their own, a load generator and a receiver in processes of theirs, and in the same go, beside each workload, the raw
limit of this stack: node:http -> BullMQ add -> Worker -> undici POST, with nothing else. Every event is 1 KiB of JSON.

  W1  throughput: 20,000 emissions, one webhook
  W2  fan-out: 2,000 emissions to 10 webhooks
  W3  latency: 100 emissions a second for 30 s
  W4  ingress: 20,000 HTTP requests to a source, through its component, to one webhook
  W5  growth: W1 with 1,000,000 delayed deliveries waiting, then 100,000 subscriptions too, then 10,000 sources too

All five unless some are named.

  --events N       so many events instead (W3: seconds x 100; W5: in each of its four parts)
  --senders N      so many at once (64)
  --raw FRONT      http (default); add: the sender fills the raw queue itself; none: no raw limit
  --publish HOW    gathered (default): by Headwater's publisher; single: a BullMQ job each, as other clients do
  --set NAME=VALUE a setting of Headwater's (.env.example), again for more
  --profile NAME   writes a .cpuprofile of web, runs, emissions, deliveries or deletions
  --json FILE      all figures as JSON

Latency counts from the moment before an event is sent, so its acceptance is part of it. CPU seconds are those of user
and kernel of whole processes until every record is written. Linux only (/proc).

  npm run bench -- lists    pages of a list of a million rows; ingress beside a bare node:http
  npm run bench:runs        sandboxes: cold start, warm run, runs a second, memory`;

export interface Options {
  workloads: WorkloadName[];
  events: number | undefined;
  senders: number;
  raw: RawFront | "none";
  publish: Publish;
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
      senders: { type: "string", default: "64" },
      raw: { type: "string", default: "http" },
      publish: { type: "string", default: "gathered" },
      set: { type: "string", multiple: true, default: [] },
      profile: { type: "string" },
      json: { type: "string" },
    },
  });
  return {
    workloads:
      positionals.length > 0
        ? positionals.map(name => oneOf(ALL_WORKLOADS, name, "workload"))
        : ALL_WORKLOADS,
    events: values.events === undefined ? undefined : positive(values.events, "--events"),
    senders: positive(values.senders, "--senders"),
    raw: oneOf(["http", "add", "none"] as const, values.raw, "--raw"),
    publish: oneOf(["gathered", "single"] as const, values.publish, "--publish"),
    settings: Object.fromEntries(values.set.map(settingOf)),
    profile: values.profile === undefined ? undefined : oneOf(PROCESS_NAMES, values.profile, "--profile"),
    json: values.json,
  };
}

function oneOf<Name extends string>(names: readonly Name[], given: string, what: string): Name {
  const found = names.find(name => name === given);
  if (!found) throw new UsageError(`${what} is "${given}", must be one of ${names.join(", ")}`);
  return found;
}

import { crowdOf, measureCrowdedLists } from "./crowded-lists.ts";
import { parse, positive, runEntry, UsageError } from "./entry.ts";
import { measureIngress } from "./ingress.ts";
import { measureLongList } from "./long-list.ts";

const HELP = `Usage: npm run bench:lists -- [parts] [options]

One request at a time, with the web process alone. Parts, all unless some are named:

  ingress   ingress compared with a bare node:http server
  long      pages of a list of a million rows compared with a list of a hundred
  crowd     every list, filter and search of an account with 10,000 sources, 10,000 webhooks, 100,000 subscriptions and
            5,000,000 deliveries, whose rows are made in bulk (at full size some 10 GB on disk, and minutes)

  --scale N      so many times that (default 1; 0.1: a tenth of each)
  --deliveries N so many deliveries instead
  --requests N   of each list, filter and search (default 100)

Ratios are within one run.`;

const PARTS = ["ingress", "long", "crowd"];

/** Parses `--scale`. Throws UsageError. */
function scaleOf(text: string): number {
  const scale = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && scale > 0 && scale <= 10) return scale;
  throw new UsageError("--scale must be a number above 0, and at most 10");
}

await runEntry(HELP, async args => {
  const { values, positionals } = parse({
    args,
    allowPositionals: true,
    options: {
      scale: { type: "string", default: "1" },
      deliveries: { type: "string" },
      requests: { type: "string", default: "100" },
    },
  });
  const unknown = positionals.find(name => !PARTS.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`a part must be one of ${PARTS.join(", ")}, not "${unknown}"`);
  const isWanted = (part: string) => positionals.length === 0 || positionals.includes(part);
  const scale = scaleOf(values.scale);
  const requests = positive(values.requests, "--requests");
  const { deliveries } = values;
  const crowd = crowdOf(scale, deliveries === undefined ? undefined : positive(deliveries, "--deliveries"));
  if (isWanted("ingress")) await measureIngress();
  if (isWanted("long")) await measureLongList();
  if (isWanted("crowd")) await measureCrowdedLists(crowd, requests);
});

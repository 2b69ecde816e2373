import { runEntry } from "./entry.ts";
import { measureIngress } from "./ingress.ts";
import { measureLongList } from "./long-list.ts";

const HELP = `Usage: npm run bench -- lists

One request at a time, with the web process alone: ingress compared with a bare node:http server, and pages of a list
of a million rows compared with a list of a hundred. Ratios are within one run.`;

await runEntry(HELP, async () => {
  await measureIngress();
  await measureLongList();
});

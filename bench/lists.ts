import { runEntry } from "./entry.ts";
import { measureIngress } from "./ingress.ts";
import { measureLongList } from "./long-list.ts";

const HELP = `Usage: npm run bench -- lists

One request at a time, web alone: ingress beside a bare node:http server, and pages of a list of a million rows beside
those of a list of a hundred. Figures are ratios of the same run.`;

await runEntry(HELP, async () => {
  await measureIngress();
  await measureLongList();
});

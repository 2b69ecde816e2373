/** Prints the figures of the house at the present commit, to compare before and after. Run with `npm run house`. */
import { execFileSync } from "node:child_process";
import { waitingPlaces } from "./house/documents.ts";
import { type Figure, staticFigures, wayFigures } from "./house/figures.ts";
import { touches } from "./house/private-parts.ts";
import { root } from "./house/sources.ts";
import { measureWays } from "./house/ways.ts";

const HELP = `Usage: npm run house -- [options]

Prints a table of the figures of src/ and workers/ at the present commit, with the aims of issue 31.

  --static   only what is read from files; without the ways, which run the system for two minutes on stores of its own
  --files    lists the files on each way, too
  --json     prints JSON: the figures, the places where a delivery waits, the private parts touched, and the files on the ways

A file is on a way if V8's coverage counts a call of one of its functions each time the way is gone, and more calls than while
the system idles for as long. Everything runs in one process; code in sandboxes is not counted. The aims of the ways are from a
reader's count, which is nearest to the files above sandbox/ in the import order, and for attempts to those of src/deliveries.`;

async function main(args: string[]): Promise<void> {
  if (args.includes("--help")) return console.log(HELP);
  const ways = args.includes("--static") ? null : await measureWays();
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], {
    cwd: root,
    encoding: "utf8",
  }).trim();
  const figures = [...staticFigures(), ...(ways ? wayFigures(ways) : [])];
  const touched = touches();
  const waiting = waitingPlaces();
  if (args.includes("--json")) {
    return console.log(JSON.stringify({ commit, figures, waiting, touched, ways }, null, 2));
  }
  console.log(`The house at ${commit}\n\n${table(figures)}`);
  console.log(
    `\nPlaces where a delivery waits (docs/states.md)\n${waiting.map(name => `  ${name}`).join("\n")}`,
  );
  console.log("\nPrivate parts of libraries");
  for (const { library, what, place } of touched) console.log(`  ${library}: ${what}  ${place}`);
  if (!ways || !args.includes("--files")) return;
  for (const [name, files] of Object.entries(ways)) {
    console.log(`\nFiles on the way "${name}"\n${files.map((file: string) => `  ${file}`).join("\n")}`);
  }
}

function table(figures: Figure[]): string {
  const rows = [
    ["figure", "now", "aim", ""],
    ...figures.map(({ name, value, aim = "", note = "" }) => [name, value.toLocaleString("en"), aim, note]),
  ];
  const width = (at: number) => Math.max(...rows.map(row => row[at]?.length ?? 0));
  const widths = [width(0), width(1), width(2)] as const;
  return rows
    .map(([name = "", value = "", aim = "", note = ""]) =>
      [name.padEnd(widths[0]), value.padStart(widths[1]), aim.padStart(widths[2]), note].join("  ").trimEnd(),
    )
    .join("\n");
}

await main(process.argv.slice(2));

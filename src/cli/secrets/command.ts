import type { Command } from "commander";
import type { Platform } from "../../platform.ts";
import { recordOfOperator } from "../operator-log.ts";
import type { WithPlatform } from "../run.ts";

const HELP = `
To change SECRETS_KEY, follow four steps. In steps 1, 2 and 4 restart every process, one after another if you like:

  1. SECRETS_KEY=OLD,NEW   from now on, all processes can read what the new key encrypts
  2. SECRETS_KEY=NEW,OLD   from now on, the new key encrypts
  3. headwater secrets reseal, with that setting; this needs no restart
  4. SECRETS_KEY=NEW

Everything continues to work while it runs; a value that a request changes at the same moment stays as the request stores it. It
may be killed and run again: it continues where it stopped. deploy/README.md says what else an old key is needed for.

Exit code: 0 if nothing stored needs a key other than the first (always with --dry-run), 1 if something does or for an error,
2 for wrong usage, 78 for settings that can't be used.`;

interface Options {
  dryRun?: boolean;
  json?: boolean;
}

export function secretsCommands(program: Command, withPlatform: WithPlatform): void {
  const secrets = program.command("secrets").description("manage how secrets are stored");
  secrets
    .command("reseal")
    .description(
      "encrypt everything stored with the first key of SECRETS_KEY, so that the others can be removed",
    )
    .option("--dry-run", "print how much there is, and change nothing")
    .option("--json", "print {done, places: [{place, resealed, busy, unreadable, ids}], left}")
    .addHelpText("after", HELP)
    .action(async (options: Options) => {
      process.exitCode = await withPlatform(platform => act(platform, options));
    });
}

/** Counts or reseals, prints it, and returns the exit code. */
async function act(platform: Platform, { dryRun, json }: Options): Promise<number> {
  const print = (value: object, lines: () => string[]) =>
    void process.stdout.write(`${json ? JSON.stringify(value, null, 2) : lines().join("\n")}\n`);
  const [{ countSealed, reseal }, { linesOfCounts, linesOfResealed, progressLine }] = await Promise.all([
    import("./reseal.ts"),
    import("./lines.ts"),
  ]);
  const keys = platform.secrets.beginnings.length;
  const counts = await countSealed(platform);
  if (dryRun) {
    print({ places: counts }, () => linesOfCounts(counts));
    return 0;
  }
  const progress = progressLine(counts);
  const result = await reseal(platform, progress.show);
  progress.end();
  await recordOfOperator(platform, { action: "secrets.resealed", thing: null });
  const done = result.left === 0 && result.places.every(({ unreadable }) => unreadable === 0);
  print({ done, ...result }, () => linesOfResealed(result, keys));
  return done ? 0 : 1;
}

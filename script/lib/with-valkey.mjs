import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { valkeyOfWheel } from "./redis.mjs";
import { runScript, UserError } from "./user-error.mjs";
import { runWithPath } from "./with-path.mjs";

const HELP = `Usage: script/with-valkey COMMAND [ARGUMENTS]

Runs a command with the pinned Valkey as the redis-server that comes first on the PATH. It is downloaded once into .cache/
(Linux and macOS).

  script/with-valkey npm test -- test/flows/end-to-end.test.ts`;

async function main() {
  const [program, ...args] = process.argv.slice(2);
  if (program === "--help") return console.log(HELP);
  if (!program) throw new UserError("see script/with-valkey --help");
  const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
  const valkey = await valkeyOfWheel({ root, say: console.error });
  const bin = join(dirname(valkey), "bin");
  mkdirSync(bin, { recursive: true });
  // The name under which Debian's package of Valkey is found by programs that want Redis.
  if (!existsSync(join(bin, "redis-server"))) symlinkSync(valkey, join(bin, "redis-server"));
  return runWithPath(bin, program, args, { root });
}

await runScript(main);

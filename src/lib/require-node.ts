import { EXIT_CONFIG } from "./errors.ts";
import { judgeVersion, SUPPORTED } from "./versions.ts";

// Imported before anything else by what a process starts with: on an older Node, some package fails while it is loaded.
const verdict = judgeVersion(SUPPORTED.node, process.versions.node);
if (verdict.is === "old") {
  process.stderr.write(`headwater: ${verdict.message}\n`);
  process.exit(EXIT_CONFIG);
}

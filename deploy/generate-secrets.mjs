// Writes random secrets for an installation into a folder, a file each; those that are there stay.
// usage: node deploy/generate-secrets.mjs FOLDER
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node deploy/generate-secrets.mjs FOLDER");
  process.exit(64);
}

const SECRETS = {
  SECRETS_KEY: () => randomBytes(32).toString("base64"),
  ADMIN_PASSWORD: () => randomBytes(18).toString("base64url"),
  METRICS_TOKEN: () => randomBytes(24).toString("base64url"),
};

/** Prometheus reads it as a user of its own. */
const MODES = { METRICS_TOKEN: 0o444 };

mkdirSync(folder, { recursive: true });
for (const [name, generate] of Object.entries(SECRETS)) {
  const file = join(folder, name);
  if (existsSync(file)) continue;
  // wx: two starts at the same moment keep the first one's.
  writeFileSync(file, generate(), { mode: MODES[name] ?? 0o400, flag: "wx" });
  console.log(`generated ${name}`);
}

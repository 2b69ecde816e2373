// Makes the first user of an installation, and prints a link that signs it in to the dashboard once, at each run.
// usage: node deploy/first-user.mjs FOLDER URL
// FOLDER keeps the user's API key, which makes the links: give no other process a way to it. URL is the web process'.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureFirstUser, signInLink } from "../script/lib/first-user.mjs";

const [folder, url] = process.argv.slice(2);
if (!folder || !url) {
  console.error("usage: node deploy/first-user.mjs FOLDER URL");
  process.exit(64);
}

const file = join(folder, "api-key");
const saved = existsSync(file) ? readFileSync(file, "utf8") : undefined;
const cli = { args: ["bin/headwater"] };
const { key, created, problem } = await ensureFirstUser({ env: process.env, url, cli, key: saved });
if (created) {
  writeFileSync(file, key, { mode: 0o600 });
  console.log("Created the user dev@localhost.");
}
const link = await signInLink({ url, key });
if (link) console.log(`Dashboard (signs in once, within ten minutes): ${link}`);
else
  console.log(
    `No link to sign in: ${problem ?? "the server made none"}. Make a user: bin/headwater user create`,
  );

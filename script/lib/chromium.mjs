import { join } from "node:path";
import { aptInstall, canInstall } from "./apt.mjs";
import { findProgram } from "./commands.mjs";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];
const INSTEAD = "install Chromium yourself (package chromium)";

/**
 * The path of a Chromium for tests: on the PATH, else, with `CI` set, installed by apt-get if that is allowed. Undefined
 * if there is none; throws a UserError if its installation fails.
 */
export async function chromiumProgram({ root, signal } = {}) {
  const find = () => NAMES.map(name => findProgram(name)).find(Boolean);
  const found = find();
  if (found || !process.env.CI || !canInstall()) return found;
  await aptInstall("chromium", { instead: INSTEAD, logFile: join(root, ".cache/apt-chromium.log"), signal });
  return find();
}

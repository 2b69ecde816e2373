import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { lastLine, run } from "./commands.mjs";
import { repositoryOf } from "./repository.mjs";
import { runScript } from "./user-error.mjs";

/**
 * Returns the labels of an image that is built from `root`, by the names that registries and scanners look for (OCI's annotations): what
 * it is, its version, and the commit and the repository it comes from, as far as there are these.
 */
export async function imageLabels(root, env = process.env) {
  const { version, description, license, author } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  const { code, output } = await run("git", ["rev-parse", "HEAD"], { cwd: root });
  const labels = {
    title: "Headwater",
    description,
    version,
    licenses: license,
    vendor: author,
    revision: code === 0 ? lastLine(output) : undefined,
    source: (await repositoryOf(root, env))?.replace(/^git\+/, "").replace(/\.git$/, ""),
  };
  return Object.fromEntries(
    Object.entries(labels)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [`org.opencontainers.image.${name}`, value]),
  );
}

/** Returns labels as arguments of `docker build` and `buildah build`. */
export const labelArguments = labels =>
  Object.entries(labels).map(([name, value]) => `--label=${name}=${value}`);

// One argument a line, for .github/workflows/release.yml.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runScript(async () => {
    const labels = await imageLabels(fileURLToPath(new URL("../..", import.meta.url)));
    for (const argument of labelArguments(labels)) console.log(argument);
  });
}

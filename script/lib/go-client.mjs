import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findProgram, lastLine, run } from "./commands.mjs";
import { runScript, UserError } from "./user-error.mjs";

const GENERATOR = "org.openapitools:openapi-generator-cli";
const VERSION = "7.14.0";
const HELP = `Usage: npm run test:go

Generates a Go client of openapi.json with ${GENERATOR} ${VERSION}, which is installed into .cache/ (once), and compiles it.
Prints why if it can't: it needs java, mvn and go, and a repository of Maven packages.`;

/** Installs the generator, once; returns its file, or the reason in one line why it can't be had. */
async function installGenerator(root) {
  const folder = join(root, ".cache/openapi-generator");
  const jar = join(folder, `openapi-generator-cli-${VERSION}.jar`);
  if (existsSync(jar)) return { jar };
  mkdirSync(folder, { recursive: true });
  console.log("Installing openapi-generator into .cache/openapi-generator (once) ...");
  const args = ["-q", "dependency:copy", `-Dartifact=${GENERATOR}:${VERSION}`, `-DoutputDirectory=${folder}`];
  const { code, output } = await run("mvn", args, { cwd: folder });
  return code === 0 && existsSync(jar) ? { jar } : { missing: lastLine(output) || "mvn failed" };
}

async function main() {
  if (process.argv.includes("--help")) return console.log(HELP);
  const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
  const absent = ["java", "mvn", "go"].filter(program => !findProgram(program));
  const { jar, missing } =
    absent.length > 0
      ? { missing: `there is no ${absent.join(" and no ")} on the PATH` }
      : await installGenerator(root);
  if (missing) return console.log(`skipped: test:go: a Go client can't be generated: ${missing}`);
  const folder = mkdtempSync(join(tmpdir(), "headwater-go-"));
  try {
    console.log("Generating ...");
    // Its own rules are for OpenAPI 3.0; test/contract/openapi.test.ts validates the document.
    const generate = ["-jar", jar, "generate", "-g", "go", "-i", join(root, "openapi.json"), "-o", folder];
    const generated = await run("java", [...generate, "--skip-validate-spec"], { cwd: folder });
    if (generated.code !== 0)
      throw new UserError(`no Go client could be generated:\n${generated.output.slice(-4000)}`);
    console.log("Compiling ...");
    const compiled = await run("go", ["build", "./..."], { cwd: folder });
    if (compiled.code !== 0)
      throw new UserError(`the generated Go client does not compile:\n${compiled.output}`);
    console.log("A Go client of openapi.json is generated and compiles.");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// `npm run test:go`
await runScript(main);

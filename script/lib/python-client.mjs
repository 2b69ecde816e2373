import { fileURLToPath } from "node:url";
import { run } from "./commands.mjs";
import { installDependencies } from "./dependencies.mjs";
import { installPythonPackages } from "./python-packages.mjs";
import { runScript } from "./user-error.mjs";

/** Installs the generator and what the client needs, once, and runs the test with them; prints why it can't. */
async function main() {
  const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
  await installDependencies({ root, say: console.log });
  const { bin, missing } = await installPythonPackages({
    root,
    requirements: "script/lib/python-requirements.txt",
    cache: ".cache/python",
    what: "openapi-python-client",
    say: console.log,
  });
  if (missing) {
    return console.log(`test:python: skipped, because openapi-python-client can't be installed: ${missing}`);
  }
  const env = { ...process.env, PYTHON_PACKAGES: bin };
  const test = ["script/test", "test/clients/python.test.ts"];
  const { code, output } = await run("bash", test, { cwd: root, env });
  console.log(output);
  return code;
}

// `npm run test:python`
await runScript(main);

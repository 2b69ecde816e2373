// runs-long: npm test has test/components/npm-packages.test.ts
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { bundleComponent } from "../../src/components/bundle.ts";
import { fromCode } from "../../src/components/load-modules.ts";
import { type NpmRegistry, type Published, startNpmRegistry } from "../support/npm-registry.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { rejection } from "./rejection.ts";

describe("npm, when it installs packages of a component", () => {
  let receiver: Receiver;
  let registry: NpmRegistry;
  let folder: string;

  /** An npm that ignores the options that forbid addresses, as npm before version 11 does. */
  async function oldNpm(): Promise<NodeJS.ProcessEnv> {
    const bin = join(folder, "bin");
    await mkdir(bin, { recursive: true });
    const script = `#!/bin/bash
      kept=(); for arg in "$@"; do [[ $arg == --allow-* ]] || kept+=("$arg"); done
      PATH=\${PATH#${bin}:} exec npm "\${kept[@]}"`;
    await writeFile(join(bin, "npm"), script);
    await chmod(join(bin, "npm"), 0o755);
    return { ...registry.environment, PATH: `${bin}:${process.env.PATH}` };
  }

  const depending = (name: string, field: string, spec: string): Published => ({
    manifest: { name, version: "1.0.0", [field]: { strange: spec } },
    files: { "index.js": "module.exports = 1;" },
  });

  before(async () => {
    receiver = await startReceiver(404);
    folder = await mkdtemp(join(tmpdir(), "headwater-reach-"));
    const { host } = new URL(receiver.url);
    registry = await startNpmRegistry([
      depending("by-address", "dependencies", `http://${host}/secret.tgz`),
      depending("by-optional-address", "optionalDependencies", `http://${host}/secret.tgz`),
      depending("by-peer-address", "peerDependencies", `http://${host}/secret.tgz`),
      depending("by-https", "dependencies", `https://${host}/secret.tgz`),
      depending("by-git", "dependencies", `git+http://${host}/x.git`),
      depending("by-git-file", "dependencies", `git+file://${folder}/repository`),
      depending("by-name", "dependencies", "npm:plain@1.0.0"),
      { manifest: { name: "strange", version: "1.0.0" }, files: {} },
      {
        manifest: { name: "plain", version: "1.0.0" },
        files: { "index.js": "module.exports = 'plain';" },
      },
    ]);
  });
  after(async () => {
    await registry.close();
    await receiver.close();
    await rm(folder, { recursive: true, force: true });
  });

  for (const name of [
    "by-address",
    "by-optional-address",
    "by-peer-address",
    "by-https",
    "by-git",
    "by-git-file",
  ]) {
    it(`reaches no other host, whatever its version is: a package ${name}`, async () => {
      const error = await rejection(
        bundleComponent(fromCode(`import a from "${name}"; export default { a };`), {
          cacheDir: join(folder, name),
          npmEnvironment: await oldNpm(),
        }),
      ).catch(() => null);
      expect(receiver.requests).to.deep.equal([]);
      // An optional dependency that can't be installed is left out.
      if (name === "by-optional-address") return;
      expect([error?.code, error?.message]).to.satisfy(
        ([code, message]: string[]) => code === "invalid" && /outside the registry/.test(message ?? ""),
      );
    });
  }

  it("reads no settings of the operator, except those in the file that PACKAGES_NPMRC names", async () => {
    const home = join(folder, "home");
    await mkdir(home);
    await writeFile(join(home, ".npmrc"), `registry=${receiver.url}/\n`);
    const { npm_config_registry: url, ...environment } = registry.environment;
    const misled = { ...environment, HOME: home, npm_config_userconfig: join(home, ".npmrc") };
    const given = {
      cacheDir: join(folder, "settings"),
      npmEnvironment: { ...misled, npm_config_registry: url },
    };
    const code = fromCode(`import a from "by-name"; export default { a };`);
    expect((await bundleComponent(code, given)).packages).to.deep.equal({ "by-name": "1.0.0" });
    expect(receiver.requests).to.deep.equal([]);
    const npmrc = join(folder, "operator.npmrc");
    const { host } = new URL(url ?? "");
    await writeFile(npmrc, `registry=${url}\n//${host}/:_authToken=from-the-file\n`);
    const before = registry.requests.length;
    const named = { cacheDir: join(folder, "named"), npmEnvironment: misled, npmrc };
    expect((await bundleComponent(code, named)).packages).to.deep.equal({ "by-name": "1.0.0" });
    expect(registry.requests.slice(before)).to.include("by-name");
  });

  it("goes through the operator's proxy", async () => {
    const environment = { ...registry.environment, http_proxy: receiver.url, no_proxy: "" };
    receiver.script(503);
    const error = await rejection(
      bundleComponent(fromCode(`import a from "by-name"; export default { a };`), {
        cacheDir: join(folder, "proxied"),
        npmEnvironment: environment,
      }),
    );
    expect(error.code).to.equal("unavailable");
    expect(receiver.requests.map(({ headers }) => headers.host)).to.include(
      new URL(registry.environment.npm_config_registry ?? "").host,
    );
  });
});

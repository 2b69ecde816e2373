import { execFile } from "node:child_process";
import { access, readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { bundleComponent } from "../../src/components/bundle.ts";
import { fromCode } from "../../src/components/load-modules.ts";
import { npmEnvironment, PACKAGES_LIMIT } from "../../src/components/run-npm.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { type NpmRegistry, startNpmRegistry } from "../support/npm-registry.ts";
import { startReceiver } from "../support/receiver.ts";
import { skipBecause } from "../support/skip.ts";
import { importBundle, mapOf } from "./import-bundle.ts";
import { PACKAGES } from "./published-packages.ts";
import { rejection } from "./rejection.ts";

/** The environment in which npm uses the registry of this machine's settings; undefined if it can't be reached. */
async function publicRegistry(): Promise<NodeJS.ProcessEnv | undefined> {
  const { npm_config_registry: _, HEADWATER_PUBLIC_REGISTRY: given, ...environment } = process.env;
  const env = { ...environment, ...(given && { npm_config_registry: given }) };
  const args = ["view", "ms@2.1.3", "version", "--fetch-retries=0", "--fetch-timeout=5000"];
  return promisify(execFile)("npm", args, { env, timeout: 20_000 }).then(
    () => env,
    () => undefined,
  );
}

describe("npm packages of a component", () => {
  let registry: NpmRegistry;
  const bundle = (code: string) =>
    bundleComponent(fromCode(code), { cacheDir: registry.cacheDir, npmEnvironment: registry.environment });
  const imported = async (code: string) => importBundle((await bundle(code)).code);

  before(async () => {
    registry = await startNpmRegistry(PACKAGES);
  });
  after(() => registry.close());

  it("have the version in the specifier, also if several versions of a package are imported", async () => {
    const { code, packages } = await bundle(
      `import old from "@acme/versions@0.20.0"; import one from "@acme/versions@^1"; import now from "@acme/versions";
       export default { versions: [old.version, one.version, now.version] };`,
    );
    expect((await importBundle(code)).versions).to.deep.equal(["0.20.0", "1.4.0", "2.0.0"]);
    expect(packages).to.deep.equal({
      "@acme/versions": "2.0.0",
      "@acme/versions@0.20.0": "0.20.0",
      "@acme/versions@^1": "1.4.0",
    });
  });

  it("resolve as under Node: conditions, patterns, internal imports, their own dependencies @long", async () => {
    const found = await imported(
      `import dual from "dual"; import { deep } from "dual@1/sub/deep"; export default { dual, deep, name: "x" };`,
    );
    expect(found).to.deep.include({ deep: "deep", dual: { inner: "inner", kind: "esm", v: "1.4.0", d: 7 } });
    expect(await imported(`const dual = require("dual"); module.exports = { dual };`)).to.deep.equal({
      dual: { kind: "cjs", v: "1.4.0" },
    });
  });

  it("have the same default import of CommonJS as under Node", async () => {
    const code = `import compiled, { named } from "compiled"; export default { said: compiled.default(), named };`;
    expect(await imported(code)).to.deep.equal({ said: "called", named: 1 });
  });

  it("can lack an optional dependency", async () => {
    const code = `import o from "optional"; export default { code: o.x };`;
    expect(await imported(code)).to.deep.equal({ code: "MODULE_NOT_FOUND" });
  });

  it("are not in the source map", async () => {
    const { code } = await bundle(`import dual from "dual"; export default { dual };`);
    expect(mapOf(code).sources).to.deep.equal(["own:component.js"]);
  });

  it("are installed once by simultaneous saves", async () => {
    const before = registry.requests.length;
    const code = `import o from "optional@1.0.0"; export default { o };`;
    await Promise.all([bundle(code), bundle(code), bundle(code)]);
    expect(registry.requests.slice(before).filter(path => path === "optional")).to.have.length(1);
    const after = registry.requests.length;
    await bundle(code);
    expect(registry.requests).to.have.length(after);
  });

  it("are reported to each account by its own imports, also if two install the same at the same time", async () => {
    const message = async (code: string) => (await rejection(bundle(code))).message;
    const [mine, theirs] = await Promise.all([
      message(`/* mine */ import a from "absent@1.0.0"; export default { a };`),
      message(`import a from "absent@1.0.0"; export default { a };`),
    ]);
    expect([mine, theirs].map(text => /line 1, column \d+/.exec(text)?.[0])).to.deep.equal([
      "line 1, column 26",
      "line 1, column 15",
    ]);
  });

  it("run no scripts when they are installed", async () => {
    await bundle(`import s from "scripted@1.0.0"; export default { s };`);
    const ran = await access(join(registry.cacheDir, "packages", "ran")).then(
      () => true,
      () => false,
    );
    expect(ran).to.equal(false);
  });

  it("can compute imports without reading the server's files", async () => {
    const { code } = await bundle(`import g from "globs"; export default { g };`);
    expect(code).not.to.match(/npm:node_modules\/(?!globs\/)/);
  });

  it("are rejected if they do not exist, and the import is named", async () => {
    const error = await rejection(bundle(`import a from "no-such-package"; export default { a };`));
    expect(error.message).to.match(
      /"no-such-package" \(component\.js, line 1, column 15\).*the package does not exist/,
    );
    expect([error.code, error.fields[0]?.path]).to.deep.equal(["invalid", "component_code"]);
  });

  it("fail with a clear message at run time if they have native addons", async () => {
    const error = await imported(`import a from "native"; export default { a };`).catch(
      (thrown: Error) => thrown,
    );
    expect((error as Error).message).to.equal(
      "Cannot find module 'node_modules/native/build/addon.node': packages with native addons are not supported",
    );
  });

  it("are rejected if they are too large, and nothing of them is kept @long", async () => {
    const code = `import o from "optional"; import h from "heavy@1.0.0"; export default { o, h };`;
    const options = { cacheDir: join(registry.cacheDir, "small"), npmEnvironment: registry.environment };
    const packagesLimit = { maxBytes: 300_000, maxEntries: 1000 };
    const error = await rejection(bundleComponent(fromCode(code), { ...options, packagesLimit }));
    expect(error.message).to.match(/"heavy@1\.0\.0".*too large/);
    expect(await readdir(join(options.cacheDir, "packages"))).to.deep.equal([]);
    const few = await rejection(
      bundleComponent(fromCode(code), { ...options, packagesLimit: { maxBytes: 1e9, maxEntries: 5 } }),
    );
    expect(few.message).to.match(/too large/);
    expect(PACKAGES_LIMIT.maxBytes, "by default").to.equal(LIMITS.packageSetBytes.value);
  });

  it("can't import anything above their folder", async () => {
    const { code } = await bundle(`import a from "climber@1.0.0"; export default { a };`);
    // The topmost file they can reach is the folder's own package.json, which npm needs.
    expect(((await importBundle(code)).a as { private: boolean }).private).to.equal(true);
  });

  it("are unavailable, not invalid, if the registry does not respond @long", async () => {
    const closed = createServer();
    await new Promise<void>(resolve => closed.listen(0, "127.0.0.1", resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise(resolve => closed.close(resolve));
    const environment = { ...registry.environment, npm_config_registry: `http://127.0.0.1:${port}/` };
    const work = bundleComponent(fromCode(`import a from "somewhere"; export default { a };`), {
      cacheDir: registry.cacheDir,
      npmEnvironment: environment,
    });
    expect((await rejection(work)).code).to.equal("unavailable");
  });

  it("are unavailable if npm takes too long, which is not called the registry's absence @long", async () => {
    const slow = await startReceiver("hang");
    const environment = { ...registry.environment, npm_config_registry: `${new URL(slow.url).origin}/` };
    const work = bundleComponent(fromCode(`import a from "somewhere-slow"; export default { a };`), {
      cacheDir: registry.cacheDir,
      npmEnvironment: environment,
      npmTimeoutMs: 2000,
    });
    const error = await rejection(work);
    await slow.close();
    expect(error).to.include({ code: "unavailable", retryAfterMs: 30_000 });
    expect(error.message).to.match(/took too long; the same request may succeed/);
  });

  it("come from the public registry, too @long", async function () {
    const environment = await publicRegistry();
    // The only test that needs a network outside this machine.
    if (!environment) {
      return skipBecause(this, "the public npm registry can't be reached");
    }
    const options = { cacheDir: join(registry.cacheDir, "public"), npmEnvironment: environment };
    const { packages } = await bundleComponent(
      fromCode(`import ms from "ms@2.1.3"; export default { ms };`),
      options,
    );
    expect(packages).to.deep.equal({ "ms@2.1.3": "2.1.3" });
  });

  it("are fetched by an npm process that does not receive the server's settings", () => {
    const seen = npmEnvironment(
      {
        PATH: "/bin",
        HOME: "/home/x",
        SECRETS_KEY: "s",
        MONGODB_URL: "m",
        npm_config_registry: "http://r/",
        npm_config_userconfig: "/home/x/.npmrc",
        npm_config_ignore_scripts: "false",
        HTTPS_PROXY: "http://p/",
        NODE_OPTIONS: "--inspect",
      },
      "/empty",
    );
    expect(seen).to.deep.equal({ PATH: "/bin", HOME: "/empty", npm_config_registry: "http://r/" });
  });
});

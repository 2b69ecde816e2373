import { execFile } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { build } from "esbuild";
import { Headwater } from "../../clients/typescript/src/index.ts";
import { buildClient } from "../../script/lib/client.mjs";
import { choosePort } from "../../script/lib/ports.mjs";
import { findDeno } from "../../src/sandbox/deno-command.ts";
import { browserOrSkip } from "../dashboard/signed-in.ts";
import { root } from "../support/built.ts";
import { type System, startSystem } from "../support/system.ts";

const run = promisify(execFile);

describe("the package of the client", () => {
  let system: System;
  let folder: string;
  let installed: string;
  let apiKey: string;
  before(async () => {
    system = await startSystem();
    ({ apiKey } = await system.user({ plan: "paid" }));
    folder = await mkdtemp(join(tmpdir(), "headwater-client-"));
    installed = join(folder, "node_modules/@headwater/client");
    await buildClient(root, join(installed, "dist"));
    await copyFile(join(root, "clients/typescript/package.json"), join(installed, "package.json"));
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
    await system.stop();
  });

  it("runs the example of its README in Node", async () => {
    const readme = await readFile(join(root, "clients/typescript/README.md"), "utf8");
    const [, example = ""] = /^```ts\n(.*?)^```/ms.exec(readme) ?? [];
    const port = await choosePort(4100);
    await writeFile(join(folder, "example.mts"), example.replaceAll("4100", String(port)));
    const env = { ...process.env, PUBLIC_URL: system.baseUrl.replace("/v1", ""), HEADWATER_API_KEY: apiKey };
    const { stdout } = await run(process.execPath, ["--import", "tsx", join(folder, "example.mts")], {
      cwd: root,
      env,
    });
    const lines = stdout.trim().split("\n").sort();
    expect(lines).to.have.lengthOf(3);
    expect(lines[0]).to.equal("emitted { hello: 'world' }");
    expect(lines[1]).to.match(/^received dlv_\w+ \{ hello: 'world' \}$/);
    expect(lines[2]).to.match(/^stored \d+-\d+$/);
  });

  it("runs the walk of docs/start.md as it stands, which the compiler finds no fault with", async () => {
    const page = await readFile(join(root, "docs/start.md"), "utf8");
    const [, walk = ""] = /^```ts\n(.*?)^```/ms.exec(page) ?? [];
    const written = walk.split("\n").filter(line => line !== "").length;
    expect(written, "lines").to.be.within(20, 30);
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    await writeFile(join(folder, "hello.ts"), walk);
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    const types = ["--types", "node", "--typeRoots", join(root, "node_modules/@types"), "--skipLibCheck"];
    const options = ["--noEmit", "--strict", "--target", "es2023", "--module", "nodenext", ...types];
    await run(process.execPath, [compiler, ...options, "hello.ts"], { cwd: folder }).catch(({ stdout }) =>
      expect.fail(stdout),
    );
    const env = { ...process.env, PUBLIC_URL: system.baseUrl.replace("/v1", ""), HEADWATER_API_KEY: apiKey };
    const { stdout } = await run(process.execPath, ["--import", "tsx", join(folder, "hello.ts")], {
      cwd: root,
      env,
    });
    expect(stdout).to.match(/^dlv_\w+ \{ hello: 'world' \}\n\d+-\d+ said hello\n$/);
    const { data } = await new Headwater({ url: system.baseUrl, apiKey }).sources.events("hello-ts");
    expect(data, "it deletes its events").to.deep.equal([]);
  });

  it("runs in Deno, which may reach this machine only and read nothing", async () => {
    const address = (file: string) => pathToFileURL(join(installed, "dist", file)).href;
    const imports = {
      "@headwater/client": address("index.js"),
      "@headwater/client/webhooks": address("webhooks/index.js"),
    };
    await writeFile(join(folder, "imports.json"), JSON.stringify({ imports }));
    await copyFile(join(root, "test/clients/in-deno.mjs"), join(folder, "in-deno.mjs"));
    const flags = ["--no-prompt", "--no-config", "--no-remote", "--no-npm", "--allow-net=127.0.0.1"];
    const { stdout } = await run(
      findDeno(),
      [
        "run",
        ...flags,
        `--import-map=${join(folder, "imports.json")}`,
        join(folder, "in-deno.mjs"),
        system.baseUrl,
        apiKey,
      ],
      { env: { DENO_DIR: join(folder, "deno"), DENO_NO_UPDATE_CHECK: "1", HOME: folder } },
    );
    expect(JSON.parse(stdout)).to.deep.equal({
      payload: { from: "deno" },
      isFromFlow: true,
      types: ["ready", "emit"],
      missing: "NotFoundError",
    });
  });

  it("runs in a browser, in a page of the server's host @long", async function () {
    const browser = await browserOrSkip(this);
    try {
      const bundled = await build({
        entryPoints: [join(installed, "dist/index.js")],
        bundle: true,
        format: "iife",
        globalName: "client",
        write: false,
      });
      const page = await browser.newPage();
      await page.addInitScript({ content: `${bundled.outputFiles[0]?.text} globalThis.client = client;` });
      await page.goto(`${system.baseUrl}/openapi.json`);
      const seen = await page.evaluate(`(async () => {
        const headwater = new client.Headwater({ url: location.origin, apiKey: ${JSON.stringify(apiKey)} });
        const flow = await headwater.workflows.create({ name: "From a browser" });
        const live = headwater.watch({ emitters: [flow.id] });
        const first = await live.next();
        await headwater.publish(flow.id, { event: { from: "a browser" } });
        const second = await live.next();
        await live.return();
        const missing = await headwater.sources.get("dc_0000000000000000").catch(error => error.name);
        return [first.value.type, second.value.summary.event.raw_event, missing];
      })()`);
      expect(seen).to.deep.equal(["ready", { from: "a browser" }, "NotFoundError"]);
    } finally {
      await browser.close();
    }
  });
});

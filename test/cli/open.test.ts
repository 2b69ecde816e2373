import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { commandsWith } from "./command.ts";
import { atTerminal } from "./terminal.ts";

const CODE = `export default { name: "Orders", version: "1", props: { http: "$.interface.http" }, run() {} };`;

describe("headwater open", () => {
  let system: System;
  let api: Api;
  let env: Record<string, string>;
  let dashboard: string;
  let folder: string;
  before(async () => {
    system = await startSystem({}, { workers: false });
    api = await system.user();
    env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey };
    dashboard = `${system.baseUrl.replace(/\/v1$/, "")}/dashboard`;
    folder = await mkdtemp(join(tmpdir(), "headwater-open-"));
  });
  after(async () => {
    await system.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const { printed, failure } = commandsWith(() => env);

  it("prints the page of a thing, by its id or its name", async () => {
    const source = await api.createSource({ component_code: CODE, name: "orders" });
    const webhook = await api.createWebhook("https://example.com/1", { name: "The inbox" });
    expect(await printed("open")).to.equal(`${dashboard}\n`);
    expect(await printed("open", "orders")).to.equal(`${dashboard}/sources/${source.id}\n`);
    expect(await printed("open", "The inbox")).to.equal(`${dashboard}/webhooks/${webhook.id}\n`);
    expect(await printed("open", "dlv_1")).to.equal(`${dashboard}/deliveries/dlv_1\n`);
    expect(await printed("open", "dlv_1/../x")).to.equal(`${dashboard}/deliveries/dlv_1%2F..%2Fx\n`);
    expect(await failure("open", "nothing")).to.include("none is called nothing");
  });

  it("opens the browser at a terminal, unless it is only to be printed", async () => {
    const [browser, opened] = [join(folder, "xdg-open"), join(folder, "opened")];
    await writeFile(browser, `#!/bin/sh\nprintf '%s\\n' "$1" >> ${opened}\n`);
    await chmod(browser, 0o755);
    const atOne = { ...env, PATH: `${folder}:${process.env.PATH}` };
    expect((await atTerminal(["open", "dlv_2", "--print"], atOne).ended).code).to.equal(0);
    const { code, shown } = await atTerminal(["open", "dlv_1"], atOne).ended;
    expect([code, shown.trim()]).to.deep.equal([0, `${dashboard}/deliveries/dlv_1`]);
    const addresses = await until(() => readFile(opened, "utf8").catch(() => null));
    expect(addresses).to.equal(`${dashboard}/deliveries/dlv_1\n`);
  });
});

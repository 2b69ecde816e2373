// runs-long: npm test has test/gallery, and test/cli/resources/subscription.test.ts

import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { INSTALLATION } from "../../../src/audit/record.ts";
import { publishGallery } from "../../../src/gallery/publish-gallery.ts";
import { readShipped } from "../../../src/gallery/shipped.ts";
import { AuditEntries } from "../../../src/models/audit-entry.ts";
import type { Api } from "../../support/api.ts";
import { type System, startSystem } from "../../support/system.ts";
import { environmentOf } from "../../workers/worker-process.ts";
import { commandsWith, headwater } from "../command.ts";

describe("headwater gallery", () => {
  let system: System;
  let api: Api;
  let folder: string;
  let env: Record<string, string>;
  before(async () => {
    system = await startSystem();
    api = await system.user();
    env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey };
    folder = await mkdtemp(join(tmpdir(), "headwater-gallery-"));
    await publishGallery(system.web, await readShipped());
  });
  after(async () => {
    await system?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const { printed, json, failure } = commandsWith(() => env);

  it("lists the cards, by text, category, account and type", async () => {
    expect(await printed("gallery", "list")).to.match(
      /^headwater-feed +source +1\.0\.1 +no account +Emits each new entry/m,
    );
    const { components } = await json(
      "gallery",
      "list",
      "--account",
      "key",
      "--type",
      "action",
      "--search",
      "slack",
    );
    expect(components.map(({ key }: { key: string }) => key)).to.deep.equal(["headwater-slack-message"]);
    expect(await failure("gallery", "list", "--category", "weather")).to.include("category");
  });

  it("shows one with what it needs", async () => {
    expect(await printed("gallery", "show", "headwater-slack-message"))
      .to.match(/^needs +The address of an incoming webhook/m)
      .and.to.match(/^text +string +yes +Message: /m)
      .and.to.include("1.0.0, 2026-11-28: New.");
    expect(await failure("gallery", "show", "headwater-nothing")).to.include("gallery component not found");
  });

  it("deploys one as a source or an action, and updates what has the name", async () => {
    const props = join(folder, "props.json");
    await writeFile(props, JSON.stringify({ payload: { n: 1 } }));
    const deploy = async (...args: string[]) => JSON.parse(await printed("gallery", "deploy", ...args));
    const made = await deploy("headwater-schedule", "--props", props, "--name", "mornings");
    expect(made).to.include({ name: "mornings", deployed: "created" });
    expect(await deploy("headwater-schedule", "--name", "mornings")).to.include({
      ...{ id: made.id, deployed: "updated" },
    });
    await writeFile(props, JSON.stringify({ url: "https://example.com/{{event.id}}" }));
    const action = await deploy("headwater-http-request", "--props", props);
    expect(action).to.include({ name: "HTTP request", deployed: "created" });
    expect(action.id).to.match(/^ac_/);
  });

  it("makes an index of somebody else's components, which an operator adds by its hash and takes back", async () => {
    const code = `export default { key: "acme-orders", name: "Orders", version: "1.0.0", type: "source", description: "Emits orders.",
      props: { http: "$.interface.http" }, run(event) { this.$emit(event.body); }, sampleEmit: { order: 1 } };`;
    await writeFile(join(folder, "orders.mjs"), code);
    const app = {
      ...{
        key: "acme",
        name: "Acme",
        categories: ["commerce"],
        monogram: "Ac",
        maturity: "beta",
        docs: null,
      },
      ...{ account: { kind: "none", needs: null, where: null }, last_checked: "2026-11-29" },
    };
    const changelog = [{ version: "1.0.0", date: "2026-11-29", changes: ["New."] }];
    const manifest = {
      title: "Acme's",
      apps: [app],
      components: [{ app: "acme", file: "orders.mjs", changelog }],
    };
    await writeFile(join(folder, "acme.json"), JSON.stringify(manifest));
    const packed = await headwater(["gallery", "pack", join(folder, "acme.json")], env);
    expect(packed.code, packed.stderr).to.equal(0);
    const [, sha256 = ""] = /^sha256 ([0-9a-f]{64})$/m.exec(packed.stderr) ?? [];
    const host = createServer((_, response) => response.end(packed.stdout));
    await once(host.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}/acme.json`;
    const operator = commandsWith(() => ({ ...environmentOf(system.web.config), ...env }));
    expect(
      await operator.failure("gallery", "add-index", "acme", url, "--sha256", "0".repeat(64)),
    ).to.include(sha256);
    const added = JSON.parse(await operator.printed("gallery", "add-index", "acme", url, "--sha256", sha256));
    expect(added).to.include({ name: "acme", published: 1 });
    host.close();
    expect(await printed("gallery", "show", "acme-orders"))
      .to.match(new RegExp(`^published by +Acme's, ${url}$`, "m"))
      .and.to.include('"order": 1');
    expect(await printed("gallery", "deploy", "acme-orders", "--name", "orders")).to.include("dc_");
    const [listed] = JSON.parse(await operator.printed("gallery", "indexes"));
    expect(listed).to.deep.include({ name: "acme", sha256, components: ["acme-orders"] });
    await operator.printed("gallery", "remove-index", "acme");
    const entries = await AuditEntries(system.worker.mongo)
      .find({ owner_id: INSTALLATION })
      .sort({ _id: 1 })
      .lean();
    expect(entries.map(({ action, thing }) => [action, thing])).to.deep.equal([
      ["gallery_index.added", { id: "acme", name: "Acme's" }],
      ["gallery_index.removed", { id: "acme", name: null }],
    ]);
    expect(await failure("gallery", "show", "acme-orders")).to.include("gallery component not found");
  });
});

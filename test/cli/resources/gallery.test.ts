// runs-long: npm test has test/gallery, and test/cli/resources/subscription.test.ts

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { publishGallery } from "../../../src/gallery/publish-gallery.ts";
import { readShipped } from "../../../src/gallery/shipped.ts";
import type { Api } from "../../support/api.ts";
import { type System, startSystem } from "../../support/system.ts";
import { commandsWith } from "../command.ts";

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
});

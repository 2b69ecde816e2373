// runs-long: npm test has test/flows/actions.test.ts and test/cli/deploy.test.ts

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Api } from "../../support/api.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";
import { commandsWith, headwater } from "../command.ts";

const CODE = (version: string) => `export default { name: "Note", version: "${version}", type: "action",
  props: { note: "string", token: { type: "string", secret: true } },
  run({ $ }) {
    console.log("noting");
    $.export("$summary", this.note + " ${version}");
    $.export("length", this.note.length);
    return { kept: this.note };
  } };`;

describe("headwater action", () => {
  let system: System;
  let api: Api;
  let env: Record<string, string>;
  let flow: string;
  let folder: string;
  before(async () => {
    system = await startSystem();
    api = await system.user();
    env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey };
    flow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
    folder = await mkdtemp(join(tmpdir(), "headwater-action-"));
    await writeFile(join(folder, "note.mjs"), CODE("1"));
    await writeFile(join(folder, "props.json"), '{"note": "Order {{event.id}}", "token": "s3cret"}');
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
    await system?.stop();
  });

  const { printed, json, failure } = commandsWith(() => env);
  async function deploy(...args: string[]) {
    const { code, stdout, stderr } = await headwater(["action", "deploy", ...args], env);
    expect(code, stderr).to.equal(0);
    expect(stdout + stderr).not.to.include("s3cret");
    return { deployed: JSON.parse(stdout), hints: stderr };
  }

  it("deploys a file, which each event runs, and updates the action of that name", async () => {
    const file = join(folder, "note.mjs");
    const props = ["--props", join(folder, "props.json")];
    const first = await deploy(file, ...props, "--name", "note orders");
    expect(first.deployed).to.include({ name: "note orders", deployed: "created" });
    expect(first.deployed.id).to.match(/^ac_/);
    expect(first.hints).to.include(`headwater destination test ${first.deployed.id}`);
    await printed("subscription", "create", flow, "note orders");
    await printed("publish", flow, "--event", '{"id": 7}');
    const summaries = async () => {
      const rows = await json("delivery", "list", "--webhook", "note orders", "--state", "delivered");
      return rows.map((row: { last_attempt: { response: string } }) => row.last_attempt.response);
    };
    await until(async () => (await summaries()).includes("Order 7 1"));

    await writeFile(file, CODE("2"));
    const second = await deploy(file, "--name", "note orders");
    expect(second.deployed).to.include({ id: first.deployed.id, deployed: "updated" });
    const { action } = await json("destination", "show", "note orders");
    expect(action).to.deep.equal({
      component_id: second.deployed.component_id,
      configured_props: { note: "Order {{event.id}}" },
      dynamic_props_id: null,
      dynamic_props: [],
      secrets_set: ["token"],
    });
    await printed("publish", flow, "--event", '{"id": 8}');
    await until(async () => (await summaries()).includes("Order 8 2"));
    const [{ id: delivery }] = await json(
      "delivery",
      "list",
      "--webhook",
      "note orders",
      "--state",
      "delivered",
    );
    expect(await printed("delivery", "show", delivery))
      .to.match(/^summary +Order 8 2$/m)
      .and.to.match(/^export length +7$/m)
      .and.to.match(/^returned +\{"kept":"Order 8"\}$/m)
      .and.to.match(/^20\S+Z +\w+ +noting$/m);
    expect(await printed("destination", "show", "note orders")).to.match(/^kind +action$/m);
    expect((await deploy(file, ...props)).deployed).to.include({ name: "Note", deployed: "created" });
  });

  it("names what is wrong", async () => {
    const file = join(folder, "note.mjs");
    expect(await failure("action", "deploy", file, "--name", "new")).to.include(
      "action.configured_props.note",
    );
    await writeFile(join(folder, "source.mjs"), 'export default { name: "S", version: "1", run() {} };');
    expect(await failure("action", "deploy", join(folder, "source.mjs"))).to.include("is not an action");
    expect(await failure("deploy", file)).to.match(/is an action/);
    expect(await failure("action", "deploy", join(folder, "absent.mjs"))).to.match(/absent\.mjs/);
    await deploy(file, "--props", join(folder, "props.json"), "--name", "plain");
    expect(await failure("destination", "update", "plain", "--stream", "x")).to.include(
      "headwater action deploy",
    );
    const body = {
      name: "plain",
      action: { component_code: CODE("1"), configured_props: { note: "x", token: "y" } },
    };
    await api.expect(201, "POST", "/destinations", { body });
    expect(await failure("action", "deploy", file, "--name", "plain")).to.match(
      /two actions are called plain/,
    );
  });
});

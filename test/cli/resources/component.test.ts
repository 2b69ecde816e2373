// runs-long: npm test has test/components, and test/cli/resources/subscription.test.ts

import { expect } from "chai";
import type { Api } from "../../support/api.ts";
import { type System, startSystem } from "../../support/system.ts";
import { commandsWith } from "../command.ts";

const ACTION = `export default { name: "Note", version: "0.0.1", key: "cli-note", type: "action",
  props: { note: { type: "string", description: "What to note" } }, run() {} };`;
const SOURCE = `export default { name: "Beat", version: "0.2.0", key: "cli-beat", run() {} };`;

describe("headwater component", () => {
  let system: System;
  let api: Api;
  let env: Record<string, string>;
  const ids: Record<string, string> = {};
  before(async () => {
    system = await startSystem();
    api = await system.user();
    env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey };
    for (const component_code of [ACTION, SOURCE]) {
      const { key, id } = await api.expect(201, "POST", "/components", { body: { component_code } });
      ids[key] = id;
    }
  });
  after(() => system?.stop());

  const { printed, json, failure } = commandsWith(() => env);

  it("lists what is saved with what it is deployed as, of one type if asked", async () => {
    const listed = await printed("component", "list", "--ids");
    expect(listed)
      .to.match(new RegExp(`^Note +${ids["cli-note"]} +action +0\\.0\\.1 +cli-note`, "m"))
      .and.to.match(new RegExp(`^Beat +${ids["cli-beat"]} +source +0\\.2\\.0 +cli-beat`, "m"));
    const actions = await json("component", "list", "--type", "action");
    expect(actions.map(({ id }: { id: string }) => id)).to.deep.equal([ids["cli-note"]]);
    expect(actions[0]).not.to.have.property("code");
    expect(await printed("component", "list", "--type", "source")).not.to.include("Note");
  });

  it("shows one by its id or key, with its props, and deletes it", async () => {
    const shown = await printed("component", "show", "cli-note");
    expect(shown)
      .to.match(/^type +action$/m)
      .and.to.match(/^note +string +What to note$/m);
    expect(await json("component", "show", ids["cli-note"] as string)).to.include({ code: ACTION });
    await printed("component", "delete", ids["cli-note"] as string, "--yes");
    expect(await failure("component", "show", "cli-note")).to.include("component not found");
  });
});

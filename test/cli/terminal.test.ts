import { expect } from "chai";
import type { Api } from "../support/api.ts";
import { startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { headwater } from "./command.ts";
import { atTerminal } from "./terminal.ts";

const CODE = `export default { name: "Asked", version: "1", props: { http: "$.interface.http" }, run() {} };`;

describe("headwater at a terminal", () => {
  let system: System;
  let api: Api;
  let env: Record<string, string>;
  before(async () => {
    system = await startSystem({}, { workers: false });
    api = await system.user();
    env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey };
  });
  after(() => system.stop());

  /** Deletes a source; `typed` follows the question. */
  async function deleteWith(id: string, typed: string) {
    const command = atTerminal(["source", "delete", id], env);
    await until(() => command.shown().includes("[y/N] "), { what: `a question: ${command.shown()}` });
    command.type(typed);
    return await command.ended;
  }
  const status = async (id: string) => (await api.request("GET", `/sources/${id}`)).status;

  it("asks before it deletes, and deletes only after y or yes", async () => {
    const { id } = await api.createSource({ component_code: CODE, name: "asked" });
    for (const typed of ["n\n", "\n", "yesterday\n", "\u0004", "\u0003"]) {
      const { code, shown } = await deleteWith(id, typed);
      expect(shown).to.include(`Delete source asked (${id})? [y/N] `);
      expect([code, await status(id)], shown).to.deep.equal([1, 200]);
      expect(shown, JSON.stringify(typed)).to.include("nothing was deleted");
    }
    for (const [i, typed] of ["y\n", "YES\n"].entries()) {
      const one = i === 0 ? id : (await api.createSource({ component_code: CODE, name: "second" })).id;
      const { code, shown } = await deleteWith(one, typed);
      expect([code, await status(one)], shown).to.deep.equal([0, 404]);
    }
  });

  it("says what it waits for if a server hangs, and nothing of it to a program @long", async () => {
    const hanging = await startReceiver("hang");
    const slow = { ...env, HEADWATER_URL: hanging.url };
    const command = atTerminal(["source", "list"], slow);
    await until(() => /Waiting for [^\n]+ …/.test(command.shown()), { what: "the line" });
    expect(command.shown()).to.include(new URL(hanging.url).host);
    const silent = headwater(["source", "list"], slow);
    await until(() => hanging.hanging() === 2);
    command.kill();
    await command.ended;
    hanging.release();
    expect((await silent).stderr).not.to.include("Waiting for");
    await hanging.close();
  });
});

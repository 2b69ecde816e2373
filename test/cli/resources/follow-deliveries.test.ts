// runs-long: npm test has test/clients/watch.test.ts, and the list in test/cli/walk.test.ts

import { expect } from "chai";
import type { Api } from "../../support/api.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";
import { commandsWith, startHeadwater } from "../command.ts";

const CODE = `export default { name: "Hook", version: "1", props: { http: "$.interface.http" },
  run(event) { if (event.body.fail) throw new Error("it failed"); this.$emit(event.body); } };`;

describe("headwater delivery list --follow, and source runs", () => {
  let system: System;
  let receiver: Receiver;
  let api: Api;
  let env: Record<string, string>;
  let endpoint: string;
  before(async () => {
    system = await startSystem();
    receiver = await startReceiver(200);
    api = await system.user();
    env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey };
    const source = await api.createSource({ component_code: CODE, name: "orders" });
    endpoint = source.configured_props.http?.endpoint_url ?? "";
    for (const name of ["inbox", "archive"])
      await api.subscribe(source.id, (await api.createWebhook(receiver.url, { name })).id);
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  const { json, printed, misuse } = commandsWith(() => env);
  const send = (body: object) =>
    fetch(endpoint, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });

  it("shows what is there, and then each delivery that is made or changes, of those that are asked for", async () => {
    await send({ n: 1 });
    await until(async () => (await json("delivery", "list", "--state", "delivered")).length === 2);
    const of = (...args: string[]) => startHeadwater(["delivery", "list", "--follow", ...args], env);
    const [inbox, failed] = [of("--webhook", "inbox"), of("--state", "failed", "--json")];
    await until(() => /^dlv_\w+ {2}delivered {2}1 {2}200 {2}inbox /m.test(inbox.stdout()));
    await send({ n: 2 });
    await until(() => inbox.stdout().match(/ delivered .* inbox /g)?.length === 2);
    receiver.script(410);
    await send({ n: 3 });
    const lines = await until(() => {
      const rows = failed.stdout().trim().split("\n");
      return rows.length === 2 && rows.map(row => JSON.parse(row));
    });
    for (const command of [inbox, failed]) command.kill("SIGINT");
    const [shown, ended] = await Promise.all([inbox.ended, failed.ended]);
    expect([shown.code, ended.code], shown.stderr + ended.stderr).to.deep.equal([0, 0]);
    expect(shown.stdout).not.to.include(" archive ");
    expect(lines.map(({ state }) => state)).to.deep.equal(["failed", "failed"]);
  });

  it("follows by what a delivery shows itself", async () => {
    expect(await misuse("delivery", "list", "-f", "--since", "1h")).to.include(
      "--since: goes without --follow",
    );
  });

  it("lists runs, and those that failed", async () => {
    await send({ fail: true });
    const [run] = await until(async () => {
      const runs = await json("source", "runs", "orders", "--failed");
      return runs.length > 0 && runs;
    });
    expect(run.error.message).to.equal("it failed");
    expect(await printed("source", "runs", "orders")).to.match(
      new RegExp(`^${run.id} +20\\S+Z +http +${run.outcome} +\\d+ +0 +- +it failed$`, "m"),
    );
  });
});

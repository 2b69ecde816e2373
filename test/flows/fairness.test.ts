import { expect } from "chai";
import { startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const source = (run: string) =>
  `export default { name: "Flood", version: "0.0.1", props: { http: "$.interface.http" }, async run(event) { ${run} } };`;

/** docs/design.md#guarantee-5 */
describe("an account whose sources never end", () => {
  let system: System;
  before(async () => {
    system = await startSystem({ CONCURRENCY: "sandboxes:4,runs:6", TIMEOUTS: "run:120s" });
  });
  after(() => system.stop());

  it("leaves another account its runs, its events and its deliveries", async () => {
    const [stuck, quiet] = [await system.user(), await system.user()];
    const endpoints: string[] = [];
    const first = await stuck.createSource({ component_code: source("await new Promise(() => {});") });
    endpoints.push(first.configured_props.http?.endpoint_url ?? "");
    for (let n = 1; n < 15; n++) {
      const { configured_props } = await stuck.createSource({ component_id: first.component_id });
      endpoints.push(configured_props.http?.endpoint_url ?? "");
    }
    const receiver = await startReceiver(200);
    const { id, configured_props } = await quiet.createSource({
      component_code: source("this.$emit(event.body);"),
    });
    await quiet.subscribe(id, (await quiet.createWebhook(receiver.url)).id);
    for (const endpoint of endpoints) await fetch(endpoint, { method: "POST" });
    const sandboxes = await system.worker.sandboxes();
    await until(() => sandboxes.stats().busy === 3, { what: "the account's share of the sandboxes in use" });
    for (let n = 0; n < 20; n++) {
      const sent = await fetch(configured_props.http?.endpoint_url ?? "", {
        method: "POST",
        body: JSON.stringify({ n }),
        headers: { "content-type": "application/json" },
      });
      expect(sent.status).to.equal(200);
      await until(() => receiver.requests.length > n, { what: `event ${n}` });
    }
    expect(sandboxes.stats().busy).to.equal(3);
    await receiver.close();
  });
});

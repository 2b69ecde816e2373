import { expect } from "chai";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const source = (body: string) =>
  `export default { name: "Odd", version: "0.0.1", props: { http: "$.interface.http" }, run(event) { ${body} } };`;

describe("misbehaving component code", () => {
  let system: System;
  before(async () => {
    system = await startSystem({ TIMEOUTS: "run:6s", SIZES_MB: "heap:64" });
  });
  after(() => system.stop());

  for (const [what, body, code] of [
    ["an endless loop", "if (event.path === '/bad') for (;;) {} this.$emit('fine');", "Timeout"],
    [
      "a memory hog",
      `if (event.path === '/bad') { const all = []; for (;;) all.push(new Array(1e5).fill(Math.random())); }
        this.$emit('fine');`,
      "Out of Memory",
    ],
  ] as const) {
    it(`such as ${what} is stopped and reported, and the source's next run succeeds`, async () => {
      const api = await system.user();
      const { id, configured_props } = await api.createSource({ component_code: source(body) });
      const endpoint = configured_props.http?.endpoint_url ?? "";
      await fetch(`${endpoint}/bad`);
      await fetch(`${endpoint}/good`);

      const [error] = await until(async () => {
        const found = await api.summaries(id, { stream: "$errors" });
        return found.length > 0 && found;
      });
      expect(error?.event.error.code).to.equal(code);
      const [fine] = await until(async () => {
        const found = await api.summaries(id);
        return found.length > 0 && found;
      });
      expect(fine?.event.raw_event).to.equal("fine");
    });
  }
});

import { expect } from "chai";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";

const CODE = `export default { name: "Detail", version: "0.0.1",
  props: {
    timer: { type: "$.interface.timer", default: { intervalSeconds: 3600 } },
    token: { type: "string", secret: true },
    other: { type: "string", secret: true, optional: true },
    plain: { type: "string", default: "x" },
  },
  run() {} };`;

describe("what a source alone shows", () => {
  let system: System;
  let api: Api;
  before(async () => {
    system = await startSystem();
    api = await system.user();
  });
  after(() => system.stop());

  it("is which secrets are set, without their values, and when its timer is due next", async () => {
    const { id } = await api.createSource({ component_code: CODE, configured_props: { token: "s3cret-1" } });
    const read = () => api.expect(200, "GET", `/sources/${id}`);
    const shown = await read();
    expect(shown.secrets_set).to.deep.equal(["token"]);
    expect(JSON.stringify(shown)).not.to.include("s3cret");
    expect(shown.next_tick_at_ms).to.be.within(Date.now() - 60_000, Date.now() + 3_600_000);
    await api.expect(200, "PUT", `/sources/${id}`, {
      body: { configured_props: { other: "s3cret-2" }, active: false },
    });
    expect(await read()).to.deep.include({ secrets_set: ["token", "other"], next_tick_at_ms: null });
    await api.expect(200, "PUT", `/sources/${id}`, {
      body: { configured_props: { other: null }, active: false },
    });
    expect((await read()).secrets_set).to.deep.equal(["token"]);
  });
});

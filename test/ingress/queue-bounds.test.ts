import { expect } from "chai";
import { emit } from "../../src/events/emit.ts";
import { newId } from "../../src/lib/ids.ts";
import { readDrops } from "../../src/store/events/drops.ts";
import { type System, startSystem } from "../support/system.ts";

const CODE = `export default { name: "Slow", version: "0.0.1", props: { http: "$.interface.http" }, run() {} };`;
const LISTENER = `export default { name: "Listens", version: "0.0.1", run() {} };`;
/** JSON writes each of its bytes as six. */
const CONTROL_CHARACTERS = "\u0001".repeat(10_000);

describe("what waits for the sources of an account", () => {
  let system: System;
  before(async () => {
    const limits = "queued_bytes_per_source=250000,queued_bytes=480000";
    system = await startSystem({ FREE_LIMITS: limits }, { workers: false });
  });
  after(() => system.stop());

  async function endpoint(api: Awaited<ReturnType<System["user"]>>) {
    const source = await api.createSource({ component_code: CODE });
    return { id: source.id, url: source.configured_props.http?.endpoint_url ?? "" };
  }
  const send = (url: string) => fetch(url, { method: "POST", body: CONTROL_CHARACTERS });

  it("is bounded in bytes as they are stored, with 429 and Retry-After; other accounts go on", async () => {
    const [flooded, other] = [await system.user(), await system.user()];
    const sources = [await endpoint(flooded), await endpoint(flooded), await endpoint(flooded)];
    const accepted: number[] = [];
    for (const { url } of sources) {
      let count = 0;
      let response = await send(url);
      while (response.status === 200) {
        count += 1;
        response = await send(url);
      }
      expect([response.status, response.headers.get("retry-after")]).to.deep.equal([429, "5"]);
      accepted.push(count);
    }
    // Each event holds its body twice, as text and parsed.
    expect(accepted, "two sources reach their own bound, the third the account's").to.deep.equal([2, 2, 0]);
    expect((await send((await endpoint(other)).url)).status).to.equal(200);
  });

  it("is bounded for events of other sources too, which are dropped and counted", async () => {
    const api = await system.user();
    const [emitter, listener] = [
      await api.createSource({ component_code: CODE }),
      await api.createSource({ component_code: LISTENER }),
    ];
    await api.subscribe(emitter.id, listener.id);
    for (let i = 0; i < 6; i++) {
      const event = { text: CONTROL_CHARACTERS };
      await emit(system.worker, { emitter_id: emitter.id, emit_id: newId("run"), event });
    }
    expect(await readDrops(system.worker, emitter.id)).to.include({ "queue-full": 2 });
  });
});

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { emissions, emissionsIn } from "../../src/queues/emissions.ts";
import { type System, startSystem } from "../support/system.ts";
import { headwater } from "./command.ts";

describe("headwater publish", () => {
  let system: System;
  let workflow: string;
  let env: Record<string, string>;
  before(async () => {
    system = await startSystem({}, { workers: false });
    const api = await system.user();
    workflow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
    env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey };
  });
  after(() => system.stop());

  it("publishes one event, or a file, and prints the emit ids", async () => {
    const one = ["publish", workflow, "--event", "null", "--name", "orders", "--id", "order-1"];
    const { code, stdout, stderr } = await headwater(one, env);
    expect(code, stderr).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.equal({ emit_ids: ["order-1"] });
    const file = join(mkdtempSync(join(tmpdir(), "publish-")), "events.json");
    writeFileSync(file, JSON.stringify({ events: [{ event: 1, id: "a" }, { event: 2 }] }));
    expect((await headwater(["publish", workflow, "--file", file], env)).code).to.equal(0);
    const jobs = await openedQueue(system.worker.queues, emissions).getJobs(["waiting"], 0, -1, true);
    const published = jobs.flatMap(({ data }) => emissionsIn(data)).map(({ event, name }) => [event, name]);
    expect(published).to.deep.equal([
      [null, "orders"],
      [1, undefined],
      [2, undefined],
    ]);
  });

  it("sends the text that it was given, with its numbers", async () => {
    const queue = openedQueue(system.worker.queues, emissions);
    await queue.obliterate({ force: true });
    const event = '{"id": 7615917337495251231, "n":1.0}';
    const file = join(mkdtempSync(join(tmpdir(), "publish-")), "event.json");
    writeFileSync(file, `{"event" : ${event}}`);
    for (const given of [
      ["--event", event],
      ["--file", file],
    ]) {
      const { code, stderr } = await headwater(["publish", workflow, ...given], env);
      expect(code, stderr).to.equal(0);
    }
    const jobs = await queue.getJobs(["waiting"]);
    const texts = await Promise.all(
      jobs.map(({ id = "" }) => system.worker.redis.hget(queue.toKey(id), "data")),
    );
    expect(texts).to.have.length(2);
    for (const text of texts) expect(text).to.include(`"event":${event}`);
  });

  it("fails with the API's own words, and for both or neither of --event and --file", async () => {
    const wrong = await headwater(["publish", workflow, "--event", "1", "--name", "$mine"], env);
    expect([wrong.code, wrong.stderr]).to.deep.equal([1, wrong.stderr]);
    expect(wrong.stderr).to.include("name must be a channel");
    const neither = await headwater(["publish", workflow], env);
    expect([neither.code, neither.stderr]).to.deep.equal([
      2,
      "headwater: --event, --file: exactly one of them is needed\n",
    ]);
  });
});

import { expect } from "chai";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import { headwater } from "../../cli/command.ts";
import type { Api, Problem, Summary } from "../../support/api.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";

const TIMED = `export default { name: "Timed", version: "0.0.1",
  props: { timer: { type: "$.interface.timer", default: { cron: "0 5 1 1 *" } }, db: "$.service.db", word: "string" },
  sampleEmit() { console.log("asked"); this.$emit({ n: 0 }, { name: "more" }); return { word: this.word, db: this.db.get("n") ?? null }; },
  run(event) {
    if (this.word === "fail") throw new Error("it failed");
    this.db.set("n", (this.db.get("n") ?? 0) + 1);
    this.$emit({ n: this.db.get("n"), ...event });
  } };`;
const HTTP = `export default { name: "Http", version: "0.0.1", props: { http: "$.interface.http" },
  sampleEmit() { throw new Error("no sample"); }, run(event) { this.$emit(event); } };`;
const BARE = `export default { name: "Bare", version: "0.0.1", props: { http: "$.interface.http" }, run() {} };`;

describe("a source by hand", () => {
  let system: System;
  let api: Api;
  before(async () => {
    system = await startSystem();
    api = await system.user();
  });
  after(() => system.stop());

  const timed = async (word = "w"): Promise<string> =>
    (await api.createSource({ component_code: TIMED, configured_props: { word } })).id;
  const run = (id: string, body: object = {}) => api.request("POST", `/sources/${id}/run`, { body });
  const events = (id: string, channel = ""): Promise<Summary[]> =>
    api.expect(200, "GET", `/sources/${id}${channel}/event_summaries`);
  const problemOf = async (id: string, path: string, body: object = {}) => {
    const { status, body: problem } = await api.request<Problem>("POST", `/sources/${id}${path}`, { body });
    return [status, problem.type.split("#")[1], problem.errors?.[0]?.path];
  };

  it("runs now as at its timer's moment, in its series, and is recorded as manual", async () => {
    const id = await timed();
    const ids = [];
    for (let n = 0; n < 3; n++) {
      const { status, body } = await run(id);
      expect(status).to.equal(202);
      ids.push(body.data.run_id);
    }
    await until(async () => (await events(id)).length === 3);
    const emitted = (await events(id)).map(({ event }) => event.raw_event ?? event);
    expect(emitted.map(({ n }) => n).sort()).to.deep.equal([1, 2, 3]);
    expect(emitted[0]).to.include({ cron: "0 5 1 1 *" });
    await until(async () => (await api.expect(200, "GET", `/sources/${id}/runs`)).length === 3);
    const runs: { id: string; trigger: string }[] = await api.expect(200, "GET", `/sources/${id}/runs`);
    expect(runs.map(one => one.id)).to.have.members(ids);
    expect(new Set(runs.map(one => one.trigger))).to.deep.equal(new Set(["manual"]));
  });

  it("runs with an event that the request has, and needs one without a timer", async () => {
    const { id } = await api.createSource({ component_code: HTTP });
    expect(await problemOf(id, "/run")).to.deep.equal([400, "invalid", "event"]);
    expect((await run(id, { event: { body: "by hand" } })).status).to.equal(202);
    await until(async () => (await events(id)).length === 1);
    const big = { event: { text: "x".repeat(LIMITS.ingressBodyBytes.value) } };
    expect(await problemOf(id, "/run", big)).to.deep.equal([400, "invalid", "event"]);
    const dense = { event: Array.from({ length: 100_000 }, () => []) };
    expect(await problemOf(id, "/run", dense)).to.deep.equal([400, "invalid", "event"]);
  });

  it("reports a failure as that of any run", async () => {
    const id = await timed("fail");
    await run(id);
    await until(async () => (await events(id, "/$errors")).length === 1);
    const [error] = await events(id, "/$errors");
    expect(error?.event.original_context.source_type).to.equal("manual");
  });

  it("does not run while it is disabled, nor for another account", async () => {
    const id = await timed();
    await api.expect(200, "PUT", `/sources/${id}`, { body: { active: false } });
    expect((await problemOf(id, "/run")).slice(0, 2)).to.deep.equal([409, "conflict"]);
    expect((await problemOf(id, "/sample", { emit: true })).slice(0, 2)).to.deep.equal([409, "conflict"]);
    const stranger = await system.user();
    for (const path of ["run", "sample"]) {
      expect((await stranger.request("POST", `/sources/${id}/${path}`, { body: {} })).status).to.equal(404);
    }
  });

  it("runs a bounded number of times a minute", async () => {
    const other = await system.user();
    const { id } = await other.createSource({ component_code: BARE });
    const path = `/sources/${id}/run`;
    const { redis, keys } = system.web;
    // As after all runs of a minute but one, which lasts here until the test is over.
    const counted = `${keys.rateLimit()}-by-hand:steady:${other.userId}`;
    await redis.set(counted, LIMITS.runsByHand.value - 1, "EX", 3600);
    expect((await other.request("POST", path, { body: { event: 1 } })).status).to.equal(202);
    const { status, headers } = await other.request("POST", path, { body: { event: 1 } });
    expect([status, Number(headers.get("retry-after")) > 0]).to.deep.equal([429, true]);
  });

  it("shows the sample event of its component, with its props and without its memory, and stores nothing", async () => {
    const id = await timed("hello");
    const sample = await api.expect(200, "POST", `/sources/${id}/sample`, { body: {} });
    expect(sample.events.map((one: { event: unknown; name: string }) => [one.event, one.name])).to.deep.equal(
      [
        [{ n: 0 }, "more"],
        [{ word: "hello", db: null }, ""],
      ],
    );
    expect([sample.emit_ids, sample.error, sample.logs[0].message]).to.deep.equal([[], null, "asked"]);
    expect(await events(id)).to.deep.equal([]);
  });

  it("emits the sample event if it is asked to", async () => {
    const id = await timed("hello");
    const { emit_ids } = await api.expect(200, "POST", `/sources/${id}/sample`, { body: { emit: true } });
    await until(async () => (await events(id)).length === 2);
    const found = (await events(id)).map(({ metadata }) => metadata);
    expect(found.map(one => one.emit_id)).to.have.members(emit_ids);
    expect(found.map(one => one.name).sort()).to.deep.equal(["", "more"]);
  });

  it("says what sampleEmit threw, or that there is none", async () => {
    const { id } = await api.createSource({ component_code: HTTP });
    const { error, emit_ids } = await api.expect(200, "POST", `/sources/${id}/sample`, {
      body: { emit: true },
    });
    expect([error.message, emit_ids]).to.deep.equal(["no sample", []]);
    const bare = await api.createSource({ component_code: BARE });
    expect((await problemOf(bare.id, "/sample")).slice(0, 2)).to.deep.equal([400, "invalid"]);
  });

  it("runs from the command line", async () => {
    const { id } = await api.createSource({ component_code: HTTP, name: "by-cli" });
    const env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey };
    const { code, stdout } = await headwater(["source", "run", "by-cli", "--event", '{"n":1}'], env);
    expect(code).to.equal(0);
    expect(stdout).to.match(/runs: run_/);
    await until(async () => (await events(id)).length === 1);
    const lacking = await headwater(["source", "run", "by-cli"], env);
    expect(lacking.code).to.equal(1);
    expect(lacking.stderr).to.match(/event/);
  });
});

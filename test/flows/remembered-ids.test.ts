// runs-long: npm test has what is remembered in test/runs/dedupe.test.ts, and killed processes in test/flows/crash.test.ts
import { expect } from "chai";
import { RunRecords } from "../../src/models/run.ts";
import { SourceMemories } from "../../src/models/source.ts";
import type { SourceView } from "../support/api.ts";
import { until } from "../support/until.ts";
import { openProcesses, type Processes } from "./processes.ts";

const CODE = `export default { name: "Orders", version: "0.0.1", dedupe: { strategy: "unique", remember: 300 },
  props: { http: "$.interface.http" },
  run(event) { for (const id of event.body) this.$emit(id, { id }); } };`;

const orders = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `order-with-a-long-id-${from + i}`);

describe("ids that a component has remembered beyond 100", () => {
  let processes: Processes;
  before(async () => {
    processes = await openProcesses();
  });
  after(() => processes?.close());

  /** Sends ids to a source, and returns of how many its run emitted an event and how many it dropped. */
  async function run(source: SourceView, ids: string[]) {
    const response = await fetch(source.configured_props.http?.endpoint_url ?? "", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(ids),
    });
    const { run_id } = (await response.json()) as { run_id: string };
    const record = await until(() => RunRecords(processes.platform.mongo).findById(run_id).lean(), {
      what: "the run's record",
    });
    return { emitted: record.emitted, deduped: record.dropped.deduped ?? 0 };
  }

  it("are those of before, survive a worker that is killed, and go with the source", async () => {
    const { platform, api, start, kill } = processes;
    await start("web");
    await start("runs");
    const source = await api.createSource({ component_code: CODE });
    expect(source).to.include({ dedupe: "unique", remember: 300 });
    // As a release before this one has left it.
    const before = {
      _id: source.id,
      db: "{}",
      dedupe: JSON.stringify({ unique: orders(0, 100) }),
      version: 1,
    };
    await SourceMemories(platform.mongo).insertMany([before]);
    expect(await run(source, orders(50, 250))).to.deep.equal({ emitted: 150, deduped: 50 });
    await kill("runs");
    await start("runs");
    expect(await run(source, orders(0, 300))).to.deep.equal({ emitted: 50, deduped: 250 });
    expect(await run(source, orders(300, 301))).to.deep.equal({ emitted: 1, deduped: 0 });
    expect(await run(source, orders(0, 2)), "the oldest is forgotten").to.deep.equal({
      emitted: 1,
      deduped: 1,
    });

    await start("emissions");
    await api.expect(204, "DELETE", `/sources/${source.id}`);
    await until(async () => (await SourceMemories(platform.mongo).countDocuments({})) === 0, {
      what: "the end of its memory",
    });
  });
});

import { expect } from "chai";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const CODE = `export default { name: "Five", version: "0.0.1", props: { http: "$.interface.http" },
  run() { for (let n = 1; n <= 5; n++) this.$emit({ n }); } };`;

describe("deleting a range of events", () => {
  let system: System;
  let api: Api;
  before(async () => {
    system = await startSystem();
    api = await system.user();
  });
  after(() => system.stop());

  /** Creates a source with five events, oldest first. */
  async function createFive() {
    const source = await api.createSource({ component_code: CODE });
    await fetch(source.configured_props.http?.endpoint_url ?? "");
    const events = await until(async () => {
      const found = await api.summaries(source.id);
      return found.length === 5 && found.reverse();
    });
    return {
      source,
      ids: events.map(event => event.id),
      numbers: events.map(event => event.event.raw_event.n),
    };
  }

  async function remaining(sourceId: string, count: number): Promise<number[]> {
    const rows = await until(async () => {
      const found = await api.summaries(sourceId);
      return found.length === count && found.reverse();
    });
    return rows.map(row => row.event.raw_event.n);
  }

  const rules: [string, (ids: string[]) => Record<string, string>, number[]][] = [
    ["deletes all events without start_id and end_id", () => ({}), []],
    ["deletes start_id and all later events", ids => ({ start_id: ids[2] as string }), [1, 2]],
    ["deletes end_id and all earlier events", ids => ({ end_id: ids[2] as string }), [4, 5]],
    [
      "deletes one event if both are the same",
      ids => ({ start_id: ids[2] as string, end_id: ids[2] as string }),
      [1, 2, 4, 5],
    ],
    [
      "deletes the events between both, ends included",
      ids => ({ start_id: ids[1] as string, end_id: ids[3] as string }),
      [1, 5],
    ],
  ];
  for (const [title, range, left] of rules) {
    it(title, async () => {
      const { source, ids, numbers } = await createFive();
      expect(numbers).to.deep.equal([1, 2, 3, 4, 5]);
      const response = await api.request("DELETE", `/sources/${source.id}/events`, { query: range(ids) });
      expect(response.status).to.equal(202);
      expect(await remaining(source.id, left.length)).to.deep.equal(left);
    });
  }

  it("rejects bounds that are not event ids, or are in the wrong order, and names the parameter", async () => {
    const { source, ids } = await createFive();
    for (const [query, path] of [
      [{ start_id: "yesterday" }, "start_id"],
      [{ start_id: ids[3] as string, end_id: ids[1] as string }, "end_id"],
    ] as const) {
      const response = await api.request("DELETE", `/sources/${source.id}/events`, { query });
      expect(response.status).to.equal(400);
      expect(response.body.errors[0]).to.include({ in: "query", path });
    }
    expect(await remaining(source.id, 5)).to.have.length(5);
  });
});

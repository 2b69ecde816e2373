import { expect } from "chai";
import { aimsOf } from "../../bench/aims.ts";
import type { Backlog } from "../../bench/backlog.ts";
import type { Row } from "../../bench/workloads.ts";

const BACKLOG: Backlog = {
  deliveriesLeft: 10_000,
  deliveredPerSecond: { whileSending: 1000, after: 1000 },
  acceptance: { first: { p50: 20, p95: 40 }, last: { p50: 20, p95: 40 } },
};

/** The aims about a backlog that a measurement with these figures has, and whether it meets them. */
function backlogAims(changed: Partial<Backlog>): Record<string, boolean> {
  const cpu = { ours: 0, redis: 0, mongodb: 0, all: 0, sender: 0, receiver: 0 };
  const row: Row = {
    workload: "P1",
    what: "20,000 x 1",
    load: { events: 20_000, webhooks: 1, senders: 64 },
    ours: {
      ...{ acceptedPerSecond: 2000, deliveredPerSecond: 1000, delivered: 20_000, rejected: {} },
      ...{ lost: 0, doubled: 0, strays: 0, latencyMs: { p50: 1, p95: 1, p99: 1, max: 1 } },
      ...{ cpu, processes: [], elsewhere: 0, backlog: { ...BACKLOG, ...changed } },
    },
  };
  const aims = aimsOf([row]).filter(({ what }) => /after sending|last quarter/.test(what));
  return Object.fromEntries(
    aims.map(({ what, isMet }) => [what.includes("after") ? "rate" : "acceptance", isMet]),
  );
}

describe("the aims of the benchmark about a backlog", () => {
  it("are met where it goes out as fast afterwards, and comes in as fast until the end", () => {
    expect(backlogAims({})).to.deep.equal({ rate: true, acceptance: true });
    const nearly = { deliveredPerSecond: { whileSending: 1000, after: 901 } };
    expect(backlogAims(nearly)).to.deep.equal({ rate: true, acceptance: true });
  });

  it("are missed where the rate falls, or acceptance becomes slower", () => {
    const slow = { deliveredPerSecond: { whileSending: 1000, after: 890 } };
    expect(backlogAims(slow)).to.deep.equal({ rate: false, acceptance: true });
    const late = { acceptance: { first: { p50: 20, p95: 40 }, last: { p50: 41, p95: 60 } } };
    expect(backlogAims(late)).to.deep.equal({ rate: true, acceptance: false });
  });

  it("ignore a measurement without a backlog, and what is too fast to matter", () => {
    expect(backlogAims({ deliveriesLeft: 500 })).to.deep.equal({});
    const fast = { acceptance: { first: { p50: 0.2, p95: 1 }, last: { p50: 1.5, p95: 3 } } };
    expect(backlogAims(fast)).to.deep.equal({ rate: true, acceptance: true });
  });
});

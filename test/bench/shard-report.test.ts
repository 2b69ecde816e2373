import { expect } from "chai";
import type { Figures } from "../../bench/measure.ts";
import { type ShardRound, shardReport } from "../../bench/shard-report.ts";

const DELIVERED = 2000;

/** A round in which the masters of a cluster took so many processor seconds. */
function round(load: string, shards: number, masters: number[], lost = 0): ShardRound {
  const all = masters.reduce((sum, seconds) => sum + seconds, 0) / (DELIVERED / 1000);
  const figures: Figures = {
    ...{ acceptedPerSecond: 100, deliveredPerSecond: 100, delivered: DELIVERED, rejected: {} },
    ...{ lost, doubled: 0, strays: 0, latencyMs: { p50: 1, p95: 1, p99: 1, max: 1 }, elsewhere: 0.25 },
    cpu: { ours: 1.5, redis: all, mongodb: 0.5, all: all + 2, sender: 0, receiver: 0 },
    processes: [
      { name: "web", group: "ours", cpuSeconds: 3, rssPeakMb: 90 },
      ...masters.map((cpuSeconds, n) => ({
        ...{ name: `master ${n + 1}`, group: "redis" as const, cpuSeconds, rssPeakMb: 20 },
      })),
    ],
    roundTrips: { "Redis requests": 9, "Redis get": 2, "Redis evalsha": 5, "MongoDB find": 3 },
  };
  return { load, shards, figures };
}

/** The cells of the row that begins so. */
function cells(report: string, name: string): string[] {
  const line = report.split("\n").find(one => one.trimStart().startsWith(name)) ?? "";
  return line
    .trimStart()
    .slice(name.length)
    .trim()
    .split(/\s{2,}/);
}

describe("the report of bench:shards", () => {
  it("has the median of each master's processor time, and the rate at which the hottest one is full", () => {
    const rounds = [
      [0.2, 0.6],
      [0.4, 0.8],
      [0.3, 2],
    ].map(masters => round("steady", 1, masters));
    const report = shardReport([...rounds, round("steady", 4, [0.4, 0.4])]);
    expect(cells(report, "CPU s per 1,000, master 1")).to.deep.equal(["0.150", "0.200"]);
    expect(cells(report, "CPU s per 1,000, master 2")).to.deep.equal(["0.400", "0.200"]);
    expect(cells(report, "the hottest master")).to.deep.equal(["0.400", "0.200"]);
    expect(cells(report, "all masters")).to.deep.equal(["0.600", "0.400"]);
    expect(cells(report, "events/s at 60 % of the hottest master")).to.deep.equal(["1,500", "3,000"]);
    expect(cells(report, "if all had the same to do")).to.deep.equal(["2,000", "3,000"]);
  });

  it("counts commands of Redis alone, and adds up what was accepted and lost", () => {
    const report = shardReport([round("steady", 1, [1, 1]), round("steady", 1, [1, 1], 3)]);
    expect(cells(report, "commands an event")).to.deep.equal(["7.0"]);
    expect(cells(report, "accepted")).to.deep.equal(["4003"]);
    expect(cells(report, "lost")).to.deep.equal(["3"]);
  });

  it("has a table for each load", () => {
    const report = shardReport([round("steady", 1, [1, 1]), round("at once", 1, [1, 1])]);
    expect(report.split("\n\n").map(part => part.split("\n")[0])).to.deep.equal(["steady", "at once"]);
  });
});

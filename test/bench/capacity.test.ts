import { expect } from "chai";
import { SIZES, WORKLOADS } from "../../bench/capacity/constants.ts";
import { coresAt, type Demand, plan } from "../../bench/capacity/model.ts";
import { DEFAULTS, readOptions } from "../../bench/capacity/options.ts";
import { read } from "../docs/repository.ts";

const demand = (changed: Partial<Demand> & { events: number }): Demand => ({
  ...DEFAULTS,
  way: "publish",
  ...changed,
});
const GB = 2 ** 30;

describe("the constants of the capacity model", () => {
  const performance = read("docs/performance.md");
  /** The cells of the row that begins with this name, in the section of what was measured. */
  const rowOf = (name: string): string[] => {
    const measured = performance.slice(
      performance.indexOf("## Measured"),
      performance.indexOf("### What was aimed at"),
    );
    const line = measured.split("\n").find(one => one.startsWith(`| ${name} `)) ?? "";
    return line.split("|").map(cell => cell.trim());
  };
  const number = (text = "") => Number(/^[\d.,]+/.exec(text)?.[0].replaceAll(",", ""));

  for (const name of ["P1", "P2", "P3", "W1", "W3", "W4", "W6"] as const) {
    it(`are those that docs/performance.md has of ${name}`, () => {
      const { events, webhooks, perSecond, cpuSeconds } = WORKLOADS[name];
      const [, , delivered, , cpu] = rowOf(name);
      const all = Object.values(cpuSeconds).reduce((sum, one) => sum + one, 0);
      const perThousand = (all / (events * webhooks)) * 1000;
      // The table's medians are of the sums, these of each process.
      expect(perThousand).to.be.closeTo(number(cpu), number(cpu) * 0.06);
      expect(perSecond * webhooks).to.be.closeTo(number(delivered), number(delivered) * 0.01);
    });
  }

  it("are those that docs/performance.md has of W7", () => {
    const { events, cpuSeconds } = WORKLOADS.W7;
    const all = Object.values(cpuSeconds).reduce((sum, one) => sum + one, 0);
    const [, , , perRun] =
      performance
        .split("\n")
        .find(line => line.startsWith("| spread over"))
        ?.split("|")
        .slice(1) ?? [];
    expect(all / events).to.be.closeTo(number(perRun?.trim()), 0.001);
  });
});

describe("the capacity model", () => {
  it("has what was measured where it was measured", () => {
    // P3: 6.24 s of emissions in 30 s.
    expect(coresAt("emissions", "publish", 100)).to.be.closeTo(0.208, 0.001);
    // P1: 3.57 s for 20,000 events, at 2,033 a second.
    expect(coresAt("emissions", "publish", 2033)).to.be.closeTo(0.363, 0.001);
    expect(coresAt("emissions", "publish", 4066)).to.be.closeTo(0.726, 0.001);
    expect(coresAt("emissions", "publish", 50)).to.be.closeTo(0.104, 0.001);
  });

  it("needs one process of each for what one machine does", () => {
    const { processes, redis, walls } = plan(demand({ events: 200, fanOut: 2, payloadBytes: 2048 }));
    expect(Object.values(processes).map(({ count }) => count)).to.deep.equal([1, 1, 1, 1, 1]);
    expect(redis.masters).to.equal(1);
    expect(walls).to.have.length(1);
    expect(walls[0]).to.match(/one webhook takes up to 160 events a second .* at least 3 webhooks/);
  });

  it("adds processes with the events, and none uses more of a core than planned", () => {
    let last = 0;
    for (const events of [10, 100, 1000, 5000, 20_000, 100_000]) {
      const { processes, cores } = plan(demand({ events, latencyMs: 1 }));
      for (const { count, cores: used } of Object.values(processes))
        expect(used / count).to.be.at.most(DEFAULTS.load);
      expect(cores).to.be.above(last);
      last = cores;
    }
    // 0.6 of a core is 5,100 events a second of web, whose 4.66 s did 20,000.
    const { processes } = plan(demand({ events: 20_000 }));
    expect(processes.web.count).to.equal(Math.ceil((20_000 * (4.66 / 20_000)) / 0.6));
  });

  it("needs more delivery processes for slow endpoints, which keep them waiting and not computing", () => {
    const count = (latencyMs: number) => plan(demand({ events: 1000, latencyMs })).processes.deliveries.count;
    expect(count(100)).to.equal(1);
    // 1,000 a second for 10 s, 1.05 attempts, 1,000 at once in each process, of which 600 are planned.
    expect(count(10_000)).to.equal(Math.ceil((1000 * 1.05 * 10) / 600));
  });

  it("counts the computing of components for sources, and none for published events", () => {
    const runs = (changed: Partial<Demand>) =>
      plan(demand({ events: 1000, emitters: 1000, ...changed })).processes.runs;
    expect(runs({ runMs: 100 }).cores).to.be.below(0.1);
    expect(runs({ way: "source", runMs: 100 }).cores).to.be.above(100);
    expect(runs({ way: "source", runMs: 100 }).count).to.equal(Math.ceil((1000 * 0.1) / (16 * 0.6)));
  });

  it("stores every event and delivery for as long as asked, and nothing of small events without webhooks", () => {
    const kept = plan(demand({ events: 10, fanOut: 3, payloadBytes: 5000, retentionDays: 1 })).mongodb;
    const events = 10 * 86_400;
    const bytes = events * (5000 + SIZES.mongodbData.event) + 3 * events * SIZES.mongodbData.delivery;
    expect(kept.dataGb).to.be.closeTo(bytes / GB, 0.001);
    expect(plan(demand({ events: 10, fanOut: 0, payloadBytes: 1000 })).mongodb.dataGb).to.equal(0);
    expect(plan(demand({ events: 10, fanOut: 0, payloadBytes: 2000 })).mongodb.dataGb).to.be.above(1);
  });

  it("leaves Redis room for a backlog below the mark at which it rejects events", () => {
    const { redis } = plan(demand({ events: 100, payloadBytes: 1024, backlogSeconds: 3600, emitters: 10 }));
    const backlog = (100 * 3600 * (1024 + SIZES.redisWaitingEventBytes)) / 2 ** 20;
    expect(redis.backlogMb).to.be.closeTo(backlog, 0.1);
    expect(redis.memoryMb * 0.8).to.be.closeTo(
      backlog + SIZES.redisIdleMb + (10 * SIZES.redisEmitterKb) / 1024,
      0.1,
    );
  });

  it("names the walls of MongoDB: its primary's cores, its disk, its connections", () => {
    const { walls } = plan(demand({ events: 500_000 }));
    const text = walls.join("\n");
    expect(text).to.match(/MongoDB: the primary needs \d+ cores/);
    expect(text).to.match(/MongoDB: [\d,]+ GB on each member/);
    expect(text).to.match(/MongoDB: up to [\d,]+ connections/);
    expect(plan(demand({ events: 100, emitters: 10 })).walls).to.deep.equal([]);
  });

  it("is what the table of docs/scaling.md was made with", () => {
    const ROW =
      /^\| ([\d,]+) (published|through HTTP sources) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm;
    const rows = [...read("docs/scaling.md").matchAll(ROW)];
    expect(rows).to.have.length(10);
    const numbers = (text = "") => (text.match(/[\d,.]+/g) ?? []).map(word => Number(word.replace(/,/g, "")));
    const near = (shown: number, made: number, what: string) => {
      // Two digits that count.
      expect(shown, what).to.be.closeTo(made, made * 0.05 + 0.001);
    };
    for (const [line, events, way, counts, cores, redis, mongodb] of rows) {
      const made = plan(
        demand({
          events: numbers(events)[0] ?? 0,
          way: way === "published" ? "publish" : "source",
          emitters: 1000,
        }),
      );
      const { web, runs, emissions, deliveries } = made.processes;
      expect(numbers(counts?.replaceAll("/", " ")), line).to.deep.equal(
        [web, runs, emissions, deliveries].map(({ count }) => count),
      );
      near(numbers(cores)[0] ?? 0, made.cores, line);
      const [redisCores = 0, redisGb = 0] = numbers(redis?.replace(", ", " "));
      near(redisCores, made.redis.cores, line);
      near(redisGb, made.redis.memoryMb / 1024, line);
      const [dataGb = 0, indexGb = 0] = numbers(mongodb?.replace(", ", " "));
      near(dataGb, made.mongodb.dataGb, line);
      near(indexGb, made.mongodb.indexGb, line);
    }
  });

  it("names the walls: one Redis server, one source, one webhook", () => {
    const { walls, redis } = plan(demand({ way: "source", events: 20_000, emitters: 3 }));
    expect(redis.masters).to.be.above(1);
    expect(walls.join("\n")).to.match(/Redis: .* a cluster of \d+ masters/);
    expect(walls.join("\n")).to.match(/one source does 1415 a second: at least 24 sources/);
    expect(walls.join("\n")).to.match(/at least 125 webhooks/);
  });
});

describe("npm run capacity", () => {
  it("reads what the issue's example gives", () => {
    const { demand: given, json } = readOptions(
      "--events 200 --fan-out 2 --payload 2kb --retention 30d".split(" "),
    );
    expect(given).to.deep.equal(demand({ events: 200, fanOut: 2, payloadBytes: 2048, retentionDays: 30 }));
    expect(json).to.equal(false);
  });

  for (const [args, message] of [
    ["", "--events is missing"],
    ["--events many", "--events must be a number from 0.001 to 1000000"],
    ["--events 0", "--events must be a number"],
    ["--events 1e9", "--events must be a number"],
    ["--events 1 --fan-out -1", "--fan-out must be a number from 0"],
    ["--events -5", "--events must be a number from 0.001"],
    ["--events 1 --retention 0d", "--retention"],
    ["--events 1 --backlog 8d", "--backlog"],
    ["--events 1 --payload 2", "--payload must be a size such as 800b, 2kb or 1mb"],
    ["--events 1 --payload 6mb", "--payload must be a size"],
    ["--events 1 --retention 31d", "--retention must be 30d or less"],
    ["--events 1 --retention month", "--retention must be a time"],
    ["--events 1 --backlog 5", "--backlog must be a time"],
    ["--events 1 --via pigeon", '--via must be one of publish, queue, source, timer, not "pigeon"'],
    ["--events 1 --load 0", "--load must be a number from 1 to 100"],
    ["--events 1 --latency 20000", "--latency must be a number from 1 to 15000"],
    ["--events 1 --wrong 1", "--wrong"],
    ["--events 1 extra", "extra"],
  ] as const) {
    it(`says what is wrong with "${args}"`, () => {
      expect(() => readOptions(args.split(" ").filter(Boolean))).to.throw(message);
    });
  }
});

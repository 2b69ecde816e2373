import { expect } from "chai";
import fc from "fast-check";
import { billingPeriod, countRuns, invocationsThisPeriod, usageToday } from "../../src/accounts/usage.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

const iso = (seconds: number) => new Date(seconds * 1000).toISOString();

describe("the billing period", () => {
  const months: [string, string, string][] = [
    ["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z", "2026-01-31T23:59:59.000Z"],
    ["2026-01-31T23:59:59.999Z", "2026-01-01T00:00:00.000Z", "2026-01-31T23:59:59.000Z"],
    ["2024-02-29T12:00:00.000Z", "2024-02-01T00:00:00.000Z", "2024-02-29T23:59:59.000Z"],
    ["2026-02-28T23:00:00.000Z", "2026-02-01T00:00:00.000Z", "2026-02-28T23:59:59.000Z"],
    ["2026-12-31T23:59:59.999Z", "2026-12-01T00:00:00.000Z", "2026-12-31T23:59:59.000Z"],
    // It is already the next month east of Greenwich, but still this month in UTC.
    ["2026-03-31T23:30:00.000Z", "2026-03-01T00:00:00.000Z", "2026-03-31T23:59:59.000Z"],
  ];
  for (const [now, start, end] of months) {
    it(`of ${now} is ${start} to ${end}`, () => {
      const period = billingPeriod(Date.parse(now));
      expect([iso(period.start), iso(period.end)]).to.deep.equal([start, end]);
    });
  }

  it("is the same in every time zone of the process", () => {
    const zone = process.env.TZ;
    try {
      const periods = ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Asia/Kathmandu"].map(name => {
        process.env.TZ = name;
        return billingPeriod(Date.parse("2026-03-31T23:30:00Z"));
      });
      expect(new Set(periods.map(period => JSON.stringify(period))).size).to.equal(1);
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });

  it("contains the given time, and the next one starts a second after its end", () => {
    const moment = fc.date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true });
    fc.assert(
      fc.property(moment, date => {
        const at = Math.floor(date.getTime() / 1000);
        const period = billingPeriod(date.getTime());
        expect(at).to.be.within(period.start, period.end);
        expect(billingPeriod((period.end + 1) * 1000).start).to.equal(period.end + 1);
      }),
    );
  });
});

describe("the usage of an account", () => {
  let platform: TestPlatform;
  let now = 0;
  before(async () => {
    platform = await openTestPlatform({}, { clock: () => now });
  });
  after(() => platform.destroy());

  const at = (text: string) => {
    now = Date.parse(text);
  };

  it("is counted per day in UTC and per account", async () => {
    at("2026-02-28T23:59:59.999Z");
    await countRuns(platform, "u_1", 1, 12.2);
    await countRuns(platform, "u_1", 1, 0);
    await countRuns(platform, "u_2", 1, 5);
    expect(await usageToday(platform, "u_1")).to.include({ invocations: 2, compute: 13 });
    at("2026-03-01T00:00:00.000Z");
    expect(await usageToday(platform, "u_1")).to.include({ invocations: 0, compute: 0 });
    expect(await usageToday(platform, "u_3")).to.include({ invocations: 0, compute: 0 });
  });

  it("includes every day of the billing period, from its first to its last second, and no other", async () => {
    for (const moment of [
      "2026-04-30T23:59:59.999Z",
      "2026-05-01T00:00:00.000Z",
      "2026-05-15T12:00:00.000Z",
      "2026-05-31T23:59:59.999Z",
      "2026-06-01T00:00:00.000Z",
    ]) {
      at(moment);
      await countRuns(platform, "u_may", 1, 1);
    }
    at("2026-05-31T23:59:59.999Z");
    expect(await invocationsThisPeriod(platform, "u_may")).to.equal(3);
    at("2026-06-01T00:00:00.000Z");
    expect(await invocationsThisPeriod(platform, "u_may")).to.equal(1);
  });

  it("is counted correctly when many runs end at once", async () => {
    at("2026-07-01T00:00:00.000Z");
    await Promise.all(Array.from({ length: 200 }, () => countRuns(platform, "u_busy", 1, 3)));
    expect(await usageToday(platform, "u_busy")).to.include({ invocations: 200, compute: 600 });
  });

  it("is stored longer than any billing period, but not forever", async () => {
    at("2026-08-01T00:00:00.000Z");
    await countRuns(platform, "u_kept", 1, 1);
    const left = await platform.redis.ttl(platform.keys.usage("u_kept", "2026-08-01"));
    expect(left).to.be.within(62 * 86_400, 100 * 86_400);
  });
});

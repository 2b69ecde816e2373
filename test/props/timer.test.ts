import { expect } from "chai";
import { CronExpressionParser } from "cron-parser";
import fc from "fast-check";
import {
  checkDeclaredTimer,
  checkDefaultTimer,
  checkTimer,
  effectiveTimer,
  isTimerFault,
  parseTimer,
  timerEvent,
} from "../../src/props/timer.ts";

describe("parseTimer", () => {
  const valid: [unknown, object][] = [
    [{ intervalSeconds: 1 }, { intervalSeconds: 1 }],
    [{ intervalSeconds: 31_536_000 }, { intervalSeconds: 31_536_000 }],
    [{ cron: "0 8 * * *" }, { cron: "0 8 * * *", timezone: "UTC" }],
    [{ cron: "  */5  9-17 * JAN mon-fri " }, { cron: "*/5 9-17 * JAN mon-fri", timezone: "UTC" }],
    [
      { cron: "0 0 L * *", timezone: "America/New_York" },
      { cron: "0 0 L * *", timezone: "America/New_York" },
    ],
    ...[
      ["@hourly", "0 * * * *"],
      ["@daily", "0 0 * * *"],
      ["@midnight", "0 0 * * *"],
      ["@weekly", "0 0 * * 0"],
      ["@monthly", "0 0 1 * *"],
      ["@yearly", "0 0 1 1 *"],
      [" @Annually ", "0 0 1 1 *"],
    ].map(([given, cron]): [object, object] => [{ cron: given }, { cron, timezone: "UTC" }]),
    [{ cron: null, interval_seconds: 60 }, { intervalSeconds: 60 }],
    [
      { cron: "0 0 1 1 *", interval_seconds: null, timezone: "UTC" },
      { cron: "0 0 1 1 *", timezone: "UTC" },
    ],
  ];
  for (const [given, timer] of valid) {
    it(`accepts ${JSON.stringify(given)}`, () => expect(parseTimer(given)).to.deep.equal(timer));
  }

  const invalid: [unknown, string][] = [
    ["0 8 * * *", ""],
    [null, ""],
    [[], ""],
    [{}, ""],
    [{ intervalSeconds: 60, cron: "0 8 * * *" }, ""],
    [{ intervalSecond: 60 }, ""],
    [{ intervalSeconds: 0 }, "intervalSeconds"],
    [{ intervalSeconds: 1.5 }, "intervalSeconds"],
    [{ intervalSeconds: "60" }, "intervalSeconds"],
    [{ intervalSeconds: 31_536_001 }, "intervalSeconds"],
    [{ intervalSeconds: 60, timezone: "UTC" }, "timezone"],
    [{ cron: 5 }, "cron"],
    [{ cron: "" }, "cron"],
    [{ cron: "* * * *" }, "cron"],
    [{ cron: "0 * * * * *" }, "cron"],
    [{ cron: "@reboot" }, "cron"],
    [{ cron: "@daily 5" }, "cron"],
    [{ cron: "@" }, "cron"],
    [{ cron: "60 * * * *" }, "cron"],
    [{ cron: "H * * * *" }, "cron"],
    [{ cron: "0 0 30 2 *" }, "cron"],
    [{ cron: "0 8 * * *", timezone: "Mars/Olympus" }, "timezone"],
    [{ cron: "0 8 * * *", timezone: "+02:00" }, "timezone"],
    [{ cron: "0 8 * * *", timezone: 1 }, "timezone"],
  ];
  for (const [given, key] of invalid) {
    it(`rejects ${JSON.stringify(given)}`, () => {
      expect(parseTimer(given)).to.have.property("key", key);
    });
  }

  const wrongFields: [string, RegExp][] = [
    ["60 * * * *", /of the minute .*60/],
    ["*/0 * * * *", /of the minute /],
    ["1,,2 * * * *", /of the minute /],
    ["50-10 * * * *", /of the minute /],
    ["0 24 * * *", /of the hour /],
    ["0 0 0 * *", /of the day of month /],
    ["0 0 32 * *", /of the day of month /],
    ["0 0 1 13 *", /of the month /],
    ["0 0 1 0 *", /of the month /],
    ["0 0 * * 8", /of the day of week /],
    ["0 0 * * FRI-MON", /of the day of week /],
    ["0 0 30 2 *", /comes due/],
    ["@reboot", /@yearly, .*@hourly/],
  ];
  for (const [cron, message] of wrongFields) {
    it(`names what is wrong with ${cron}`, () => {
      expect(parseTimer({ cron })).to.have.property("message").that.matches(message);
    });
  }

  it("rejects every cron expression that never comes due", () => {
    const field = (low: number, high: number) =>
      fc.oneof(
        fc.constant("*"),
        fc.integer({ min: low, max: high }).map(String),
        fc.integer({ min: 1, max: 9 }).map(step => `*/${step}`),
        fc
          .tuple(fc.integer({ min: low, max: high }), fc.integer({ min: low, max: high }))
          .map(pair => pair.join("-")),
        fc.string({ maxLength: 3 }),
      );
    const expression = fc
      .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7))
      .map(fields => fields.join(" "));
    fc.assert(
      fc.property(expression, cron => {
        const timer = parseTimer({ cron });
        if (isTimerFault(timer) || !("cron" in timer)) return;
        CronExpressionParser.parse(timer.cron, { tz: timer.timezone }).next();
      }),
    );
  });
});

describe("the step of a cron expression", () => {
  const prop = { name: "timer", type: "$.interface.timer" };
  const most: [string, number][] = [
    ["STEP * * * *", 60],
    ["0 STEP * * *", 24],
    ["0 0 STEP * *", 31],
    ["0 0 1 STEP *", 12],
    ["0 0 * * STEP", 7],
  ];
  for (const [form, size] of most) {
    for (const start of ["*", "1", "1-3", "5,*"]) {
      const of = (step: number) => form.replace("STEP", `${start}/${step}`);
      it(`is at most what its field has: ${of(size)}`, () => {
        expect(checkTimer(prop, { cron: of(size) })).to.have.nested.property("value.cron");
        for (const step of [size + 1, 100]) {
          const cron = of(step);
          expect(checkTimer(prop, { cron })).to.have.nested.property("faults[0].path", ".cron");
          expect(checkDeclaredTimer({ ...prop, static: { cron } })).to.have.lengthOf(1);
          expect(checkDefaultTimer({ ...prop, default: { cron } })).to.have.lengthOf(1);
        }
      });
    }
  }

  it("may be greater where an earlier release stored it", () => {
    const cron = "*/100 * * * *";
    expect(effectiveTimer(prop, { cron, timezone: "UTC" })).to.deep.equal({ cron, timezone: "UTC" });
  });
});

describe("the event of a timer source", () => {
  const atMs = Date.UTC(2024, 4, 1, 12, 0, 30, 900);

  it("has the interval and the time in Unix seconds", () => {
    expect(timerEvent({ intervalSeconds: 60 }, atMs)).to.deep.equal({
      timestamp: 1_714_564_830,
      interval_seconds: 60,
    });
  });

  it("has the cron expression, and the time in its zone and in UTC", () => {
    expect(timerEvent({ cron: "0 8 * * *", timezone: "America/New_York" }, atMs)).to.deep.equal({
      timestamp: 1_714_564_830,
      cron: "0 8 * * *",
      timezone_configured: {
        timezone: "America/New_York",
        iso8601: { timestamp: "2024-05-01T08:00:30-04:00", date: "2024-05-01", time: "08:00:30-04:00" },
      },
      timezone_utc: {
        timezone: "UTC",
        iso8601: { timestamp: "2024-05-01T12:00:30+00:00", date: "2024-05-01", time: "12:00:30+00:00" },
      },
    });
  });

  it("has local times that mean the same moment, at any moment", () => {
    const zones = fc.constantFrom(
      "UTC",
      "Europe/Berlin",
      "America/St_Johns",
      "Asia/Kathmandu",
      "Pacific/Apia",
    );
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e9 }), zones, (seconds, timezone) => {
        const event = timerEvent({ cron: "0 0 * * *", timezone }, seconds * 1000);
        for (const key of ["timezone_configured", "timezone_utc"]) {
          const { iso8601 } = event[key] as { iso8601: { timestamp: string } };
          expect(Date.parse(iso8601.timestamp)).to.equal(seconds * 1000);
        }
      }),
    );
  });
});

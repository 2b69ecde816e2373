import { expect } from "chai";
import { type Alert, problemsOf, withLocalTimes } from "../../dashboard/lib/problems.ts";

const MINUTE = 60_000;
const till = { id: "dc_till", name: "till" };
const printer = { id: "wh_printer", name: "printer" };

const alert = (
  type: string,
  at: number,
  subject: Alert["subject"],
  details: Alert["details"] = {},
): Alert => ({ type, subject, details, at_ms: at * MINUTE, message: "" });

/** As the API lists them: the newest first. */
const problems = (...alerts: Alert[]) =>
  problemsOf(alerts.toReversed()).map(
    ({ kind, sinceMs, recoveredMs, alerts: count, latest, isSuperseded }) => ({
      ...{ kind, since: sinceMs / MINUTE, count, latest: latest.type },
      ...(recoveredMs !== undefined && { until: recoveredMs / MINUTE }),
      ...(isSuperseded && { isSuperseded }),
    }),
  );

describe("problems, as alerts tell of them", () => {
  it("are one line from the first alert to the recovery; what fails again is another", () => {
    const since = (minute: number) => ({ failing_since_ms: minute * MINUTE });
    expect(
      problems(
        alert("webhook.failing", 3, printer, since(0)),
        alert("webhook.will_be_disabled", 5, printer, since(0)),
        alert("source.failing", 6, till, since(6)),
        alert("webhook.recovered", 8, printer, since(0)),
        alert("webhook.failing", 12, printer, since(9)),
      ),
    ).to.deep.equal([
      { kind: "webhook", since: 9, count: 1, latest: "webhook.failing" },
      { kind: "source", since: 6, count: 1, latest: "source.failing" },
      {
        kind: "webhook",
        since: 0,
        count: 3,
        latest: "webhook.will_be_disabled",
        until: 8,
        isSuperseded: true,
      },
    ]);
  });

  it("end with their listener disabled, which is the same problem; enabled, it may have another", () => {
    const since = (minute: number) => ({ failing_since_ms: minute * MINUTE });
    expect(
      problems(
        alert("webhook.failing", 3, printer, since(0)),
        alert("webhook.disabled", 5, printer, { reason: "gone" }),
        alert("webhook.disabled", 9, printer, { reason: "gone" }),
      ),
    ).to.deep.equal([
      { kind: "webhook", since: 9, count: 1, latest: "webhook.disabled" },
      { kind: "webhook", since: 0, count: 2, latest: "webhook.disabled", isSuperseded: true },
    ]);
  });

  it("are one for an issue, and one for a quota and day", () => {
    const day = 24 * 60;
    expect(
      problems(
        alert("delivery.failed", 1, printer, { issue_id: "iss_1" }),
        alert("delivery.failed", 61, printer, { issue_id: "iss_1" }),
        alert("delivery.failed", 62, printer, { issue_id: "iss_2" }),
        alert("quota.80", 70, null, { quota: "invocations" }),
        alert("quota.100", 80, null, { quota: "invocations" }),
        alert("quota.80", day + 70, null, { quota: "invocations" }),
      ).map(({ kind, since, count }) => [kind, since, count]),
    ).to.deep.equal([
      ["quota", day + 70, 1],
      ["quota", 70, 2],
      ["delivery", 62, 1],
      ["delivery", 1, 2],
    ]);
  });

  it("leave out a recovery whose beginning is not kept", () => {
    expect(problems(alert("source.recovered", 4, till, { failing_since_ms: 0 }))).to.deep.equal([]);
  });

  it("have times as their reader writes them", () => {
    const text = withLocalTimes("it failed since 1970-01-01T00:01:00.000Z.", ms => `<${ms}>`);
    expect(text).to.equal("it failed since <60000>.");
  });
});

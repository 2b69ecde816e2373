import { expect } from "chai";
import { issueIdOf, OTHER_CAUSE } from "../../src/issues/cause.ts";
import { type FailedAttempt, IssueCounts, issueCountsOf } from "../../src/issues/issue-counts.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { type Issue, Issues } from "../../src/models/issue.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

describe("the counts of issues", () => {
  const ownerId = "u_0000000000000001";
  let platform: TestPlatform;
  let counts: IssueCounts;
  let listenerId: string;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());
  beforeEach(() => {
    counts = new IssueCounts(platform);
    listenerId = newId("wh");
  });

  const failed = (changes: Partial<FailedAttempt> = {}): FailedAttempt => ({
    ...{ ownerId, listenerId, deliveryId: "dlv_1", cause: "status:503", atMs: 1000, status: 503 },
    ...{ error: "HTTP status 503", isLast: false },
    ...changes,
  });
  const stored = async (cause = "status:503") => {
    const found = await Issues(platform.mongo).findById(issueIdOf(listenerId, cause)).lean<Issue | null>();
    if (!found) throw new Error("no issue");
    return found;
  };
  const set = (changes: Partial<Issue>) =>
    Issues(platform.mongo).updateOne({ _id: issueIdOf(listenerId, "status:503") }, { $set: changes });

  it("are written together, with the first and the last failure", async () => {
    counts.note(failed());
    counts.note(failed({ atMs: 3000, deliveryId: "dlv_2", isLast: true }));
    counts.note(failed({ cause: "timeout", status: null, error: "timeout: slow" }));
    await counts.flush();
    counts.note(failed({ atMs: 9000, deliveryId: "dlv_3" }));
    await counts.flush();
    const { expires_at, ...issue } = await stored();
    expect(issue).to.deep.equal({
      ...{ _id: issueIdOf(listenerId, "status:503"), owner_id: ownerId, listener_id: listenerId },
      ...{ cause: "status:503", state: "open", first_seen_ms: 1000, last_seen_ms: 9000, opened_at_ms: 1000 },
      ...{ reopened: 0, count: 3, failed_deliveries: 1, failed_since_opened: 1 },
      ...{ last_error: "HTTP status 503", last_status: 503, last_delivery_id: "dlv_3" },
      ...{ acknowledged_at_ms: null, acknowledged_by: null, resolved_at_ms: null, resolved_by: null },
    });
    expect(expires_at.getTime()).to.equal(9000 + LIMITS.issueKept.value);
    expect(await stored("timeout")).to.deep.include({
      count: 1,
      last_status: null,
      last_error: "timeout: slow",
    });
  });

  it("come within a second or so by themselves, and all of them when the process stops", async () => {
    counts.note(failed());
    await until(() => stored().catch(() => undefined), { what: "an issue" });
    counts.note(failed());
    await counts.close();
    expect((await stored()).count).to.equal(2);
  });

  it("of several processes add up", async () => {
    const others = Array.from({ length: 8 }, () => new IssueCounts(platform));
    for (const one of others) for (let n = 0; n < 5; n++) one.note(failed());
    await Promise.all(others.map(one => one.close()));
    expect((await stored()).count).to.equal(40);
  });

  it("keep what somebody has acknowledged, and open again what was resolved before the failure", async () => {
    counts.note(failed({ isLast: true }));
    await counts.flush();
    await set({ state: "acknowledged", acknowledged_at_ms: 1500, acknowledged_by: "u_2" });
    counts.note(failed({ atMs: 2000 }));
    await counts.flush();
    expect(await stored()).to.include({ state: "acknowledged", acknowledged_by: "u_2", opened_at_ms: 1000 });
    await set({ state: "resolved", resolved_at_ms: 3000, resolved_by: "u_2" });
    counts.note(failed({ atMs: 2999 }));
    await counts.flush();
    expect(await stored()).to.include({ state: "resolved", resolved_by: "u_2", count: 3, reopened: 0 });
    counts.note(failed({ atMs: 4000 }));
    counts.note(failed({ atMs: 5000, isLast: true }));
    await counts.flush();
    expect(await stored()).to.include({
      ...{ state: "open", opened_at_ms: 4000, first_seen_ms: 1000, count: 5, reopened: 1 },
      ...{ failed_deliveries: 2, failed_since_opened: 1 },
      ...{ acknowledged_at_ms: null, acknowledged_by: null, resolved_at_ms: null, resolved_by: null },
    });
  });

  it("keep an error's text as it is, and at most 1 KB of it", async () => {
    counts.note(failed({ error: `$owner_id ${"x".repeat(5000)}` }));
    await counts.flush();
    expect((await stored()).last_error).to.match(/^\$owner_id x{1014}$/);
  });

  it("tell so many causes of a listener apart, over all processes, and no more", async () => {
    const most = LIMITS.issuesPerListener.value;
    const outcome = (n: number) => ({ status: 400 + n, error: `HTTP status ${400 + n}` });
    for (let n = 0; n < most - 1; n++) counts.note(failed({ cause: `status:${400 + n}` }));
    await counts.flush();
    const other = new IssueCounts(platform);
    expect(await other.causeOf(listenerId, outcome(0))).to.equal("status:400");
    expect(await other.causeOf(listenerId, outcome(50))).to.equal("status:450");
    expect(await other.causeOf(listenerId, outcome(51))).to.equal(OTHER_CAUSE);
    expect(await other.causeOf(listenerId, outcome(50))).to.equal("status:450");
    expect(await other.causeOf(listenerId, { status: 200, error: null })).to.equal(null);
    expect(await other.causeOf(newId("wh"), outcome(51))).to.equal("status:451");
  });

  it("are those of one process, whichever part of it notes a failure", () => {
    expect(issueCountsOf(platform)).to.equal(issueCountsOf({ ...platform }));
  });
});

import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Alerts } from "../../src/models/alert.ts";
import { type Source, Sources } from "../../src/models/source.ts";
import { noteSourceHealth } from "../../src/runs/source-health.ts";
import { storeSource } from "../sources/source-row.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

const START = Date.UTC(2026, 10, 2, 3, 4, 5);
const failed = { error: { code: "TypeError" } };
const ok = { error: undefined };

describe("the health of a source", () => {
  let platform: TestPlatform;
  let now = START;
  let id = "";
  before(async () => {
    platform = await openTestPlatform({}, { clock: () => now });
  });
  after(() => platform.destroy());
  beforeEach(async () => {
    now = START;
    ({ _id: id } = await storeSource(platform, { name: "Feed" }));
  });

  const stored = async (): Promise<Source> => {
    const found = await Sources(platform.mongo).findById(id).lean<Source | null>();
    if (!found) throw new Error("no source");
    return found;
  };
  /** As a process does that reads the source first. */
  const note = async (...runs: (typeof failed | typeof ok)[]) => {
    now += 1000;
    await noteSourceHealth(platform, await stored(), runs);
  };
  const alerts = async () =>
    await Alerts(platform.mongo).find({ "subject.id": id }).sort({ at_ms: 1 }).lean();
  const types = async () => (await alerts()).map(({ type }) => type);

  it("is alerted of after three runs that failed one after another, once", async () => {
    for (let n = 1; n < LIMITS.failedRunsToAlert.value; n++) await note(failed);
    expect(await types()).to.be.empty;
    for (let n = 0; n < 5; n++) await note(failed);
    const raised = await alerts();
    expect(raised.map(({ type }) => type)).to.deep.equal(["source.failing"]);
    expect(raised[0]).to.deep.include({
      subject: { id, name: "Feed" },
      details: { failing_since_ms: START + 1000, failed_runs: 3 },
    });
  });

  it("counts the runs of one batch, and from the last success on", async () => {
    await note(failed, failed, ok, failed, failed);
    expect(await types()).to.be.empty;
    await note(failed);
    expect(await types()).to.deep.equal(["source.failing"]);
  });

  it("begins again with a success, which is told of after an alert only", async () => {
    await note(failed, failed);
    await note(ok);
    await note(failed, failed);
    await note(ok);
    expect(await types()).to.be.empty;
    await note(failed, failed, failed);
    await note(ok);
    await note(ok);
    await note(failed, failed, failed);
    expect(await types()).to.deep.equal(["source.failing", "source.recovered", "source.failing"]);
  });

  it("is alerted of once by two processes", async () => {
    const seen = await Promise.all([stored(), stored(), stored(), stored()]);
    await Promise.all(seen.map(source => noteSourceHealth(platform, source, [failed, failed, failed])));
    expect(await types()).to.deep.equal(["source.failing"]);
  });

  it("costs no request to a store while runs succeed, nor once the alert was raised", async () => {
    const nowhere = { ...platform, mongo: undefined as never, log: undefined as never };
    await noteSourceHealth(nowhere, await stored(), [ok]);
    await note(failed, failed, failed);
    await noteSourceHealth(nowhere, await stored(), [failed]);
  });
});

import { expect } from "chai";
import { type NewAlert, raiseAlert } from "../../src/alerts/raise.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Alerts } from "../../src/models/alert.ts";
import { transaction } from "../../src/store/connections/mongo.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

const START = Date.UTC(2026, 10, 2, 3, 4, 5);
const DAY = 86_400_000;

describe("an alert", () => {
  let platform: TestPlatform;
  let now = START;
  let owners = 0;
  let ownerId = "";
  before(async () => {
    platform = await openTestPlatform({}, { clock: () => now });
  });
  after(() => platform.destroy());
  beforeEach(() => {
    now = START;
    owners += 1;
    ownerId = `u_${String(owners).padStart(16, "0")}`;
  });

  const newAlert = (more: Partial<NewAlert> = {}): NewAlert => ({
    ownerId,
    type: "connection.broken",
    subject: { id: "apn_1", name: "Chat" },
    sinceMs: START,
    message: "its token was revoked",
    ...more,
  });
  const stored = () => Alerts(platform.mongo).find({ owner_id: ownerId }).sort({ _id: 1 }).lean();

  it("is raised once for each episode, by however many processes", async () => {
    const raised = await Promise.all(Array.from({ length: 8 }, () => raiseAlert(platform, newAlert())));
    expect(raised.filter(Boolean)).to.have.length(1);
    expect(await raiseAlert(platform, newAlert({ sinceMs: START + 1 }))).to.equal(true);
    expect(await raiseAlert(platform, newAlert({ type: "webhook.disabled" }))).to.equal(true);
    expect(await raiseAlert(platform, newAlert({ subject: { id: "apn_2", name: null } }))).to.equal(true);
    expect(await stored()).to.have.length(4);
  });

  it("is stored together with what its transaction writes, or not at all", async () => {
    const failure = new Error("no");
    const aborted = transaction(platform.mongo, async session => {
      await raiseAlert(platform, newAlert(), session);
      throw failure;
    });
    expect(await aborted.catch((error: unknown) => error)).to.equal(failure);
    expect(await stored()).to.be.empty;
    await transaction(platform.mongo, session => raiseAlert(platform, newAlert(), session));
    expect(await stored()).to.have.length(1);
  });

  it("has names and messages of one line, and of bounded length", async () => {
    await raiseAlert(
      platform,
      newAlert({
        subject: { id: "apn_1", name: `a\r\nBcc: b${"x".repeat(300)}` },
        message: `c\nd${"y".repeat(900)}`,
      }),
    );
    const [alert] = await stored();
    expect(alert?.subject?.name).to.match(/^a Bcc: bx{119}…$/);
    expect(alert?.message).to.match(/^c dy{496}…$/);
  });

  it("is suppressed when its account had as many that day, and raised on the next", async () => {
    const most = LIMITS.alertsPerDay.value;
    for (let n = 0; n < most; n++) await raiseAlert(platform, newAlert({ sinceMs: START + n }));
    expect(await raiseAlert(platform, newAlert({ sinceMs: START - 1 }))).to.equal(false);
    expect(await stored()).to.have.length(most);
    now += DAY;
    expect(await raiseAlert(platform, newAlert({ sinceMs: START - 1 }))).to.equal(true);
  });
});

import { expect } from "chai";
import { recordChange, recordOwnAction, trimEntries } from "../../src/audit/record.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { AuditEntries } from "../../src/models/audit-entry.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("an entry of the audit log", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  const userId = newId("u");
  const change = {
    ...{ action: "webhook.deleted", ownerId: userId, thing: { id: newId("wh"), name: null }, fields: [] },
    caller: { userId, keyId: newId("key"), orgIds: [], roles: {} },
    ...{ isDone: true, address: "127.0.0.1", userAgent: "" },
  };

  it("is one of the newest of its account, of which only so many are kept", async () => {
    const others = newId("u");
    await recordOwnAction(platform, { ownerId: others, action: "session.ended", thing: null });
    for (let n = 0; n < 5; n++) await recordChange(platform, change);
    const ids = async () =>
      (await AuditEntries(platform.mongo).find({ owner_id: userId }).sort({ _id: -1 }).lean()).map(
        ({ _id }) => _id,
      );
    const before = await ids();
    await trimEntries(platform, userId, 3);
    expect(await ids()).to.deep.equal(before.slice(0, 3));
    await trimEntries(platform, userId, 3);
    expect(await ids()).to.have.length(3);
    expect(await AuditEntries(platform.mongo).countDocuments({ owner_id: others })).to.equal(1);
  });

  it("is kept beside as many others as an account may have, and the oldest beyond them go", async () => {
    const most = LIMITS.auditEntries.value;
    const ofMany = newId("u");
    await recordOwnAction(platform, { ownerId: ofMany, action: "session.ended", thing: null });
    const first = await AuditEntries(platform.mongo).findOne({ owner_id: ofMany }).lean();
    const later = Array.from({ length: most }, () => ({
      ...first,
      _id: newId("aud", platform.clock() + 1000),
    }));
    await AuditEntries(platform.mongo).collection.insertMany(later as never[]);
    await trimEntries(platform, ofMany, most);
    expect(await AuditEntries(platform.mongo).countDocuments({ owner_id: ofMany })).to.equal(most);
    expect(await AuditEntries(platform.mongo).findById(first?._id).lean()).to.equal(null);
  });

  it("is in the log of the process, whole, if MongoDB does not take it", async () => {
    const away = await openTestPlatform();
    const logged: unknown[] = [];
    const log = Object.assign(Object.create(away.log), { error: (line: unknown) => logged.push(line) });
    await away.destroy();
    await recordChange({ ...away, log }, change);
    expect(logged).to.have.length(1);
    expect((logged[0] as { entry: object }).entry).to.deep.include({
      ...{ action: "webhook.deleted", owner_id: userId, thing: change.thing },
    });
  });
});

import { expect } from "chai";
import { Redis } from "ioredis";
import { RejectionNotes } from "../../src/ingress/rejections.ts";
import { verificationOf } from "../../src/ingress/verification.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Alerts } from "../../src/models/alert.ts";
import type { Source } from "../../src/models/source.ts";
import { prepareVerify } from "../../src/sources/verify.ts";
import { readRejections } from "../../src/store/rejections.ts";
import type { RejectReason } from "../../src/verify/reasons.ts";
import type { VerifySettings } from "../../src/verify/schema.ts";
import { storeSource } from "../sources/source-row.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

const REQUEST = {
  method: "POST",
  url: "https://example.com/in/x",
  headers: { "x-hub-signature-256": ["sha256=00"], "content-type": ["application/json"] },
  body: Buffer.from('{"secret":"of the sender"}'),
};

describe("requests that were not verified", () => {
  let platform: TestPlatform;
  let nowMs = Date.parse("2026-11-28T12:00:00Z");
  before(async () => {
    platform = await openTestPlatform({}, { process: "web" });
    Object.defineProperty(platform, "clock", { value: () => nowMs });
  });
  after(() => platform.destroy());

  async function verifying(settings: VerifySettings = { preset: "github", secrets: ["s3cr3t"] }) {
    const props = [{ name: "http", type: "$.interface.http" }];
    const verify = prepareVerify({ props, values: {}, asked: settings, before: null, active: true });
    const source = await storeSource(platform, { verify: platform.secrets.seal(JSON.stringify(verify)) });
    const verification = verificationOf(platform, source) ?? expect.fail();
    const notes = new RejectionNotes(platform);
    const reject = (reason: RejectReason = "mismatch") =>
      notes.rejected({ subject: source, verification, request: REQUEST, reason, clientIp: "192.0.2.1" });
    return { source, notes, reject };
  }
  const alertsOf = ({ _id }: Source) => Alerts(platform.mongo).find({ "subject.id": _id }).lean();

  it("are counted by reason, and the last of them shown without what they contained", async () => {
    const { source, notes, reject } = await verifying();
    for (let n = 0; n < 100; n += 1) reject();
    reject("no-signature");
    await notes.write();
    const { counts, last, sinceMs, verifiedAtMs } = await readRejections(platform, source._id);
    expect(counts).to.deep.equal({ mismatch: 100, "no-signature": 1 });
    expect({ sinceMs, verifiedAtMs }).to.deep.equal({ sinceMs: nowMs, verifiedAtMs: null });
    expect(last).to.have.length(LIMITS.rejectionsKept.value);
    expect(last[0]).to.deep.equal({
      ...{ at_ms: nowMs, reason: "no-signature", hint: null, method: "POST", client_ip: "192.0.2.1" },
      ...{ headers: ["x-hub-signature-256", "content-type"], body_bytes: 26, reported: false },
    });
    for (const key of [platform.keys.rejections(source._id), platform.keys.rejectionState(source._id)]) {
      expect(await platform.redis.pttl(key)).to.be.within(1, LIMITS.rejectionsKeptMs.value);
    }
    expect(JSON.stringify(last)).not.to.match(/sha256=|of the sender|s3cr3t/);
  });

  it("end with one that is verified, in whatever process", async () => {
    const { source, notes, reject } = await verifying();
    reject();
    await notes.write();
    nowMs += 1000;
    const another = new RejectionNotes(platform);
    another.verified(source);
    await another.write();
    expect(await readRejections(platform, source._id)).to.include({ sinceMs: null, verifiedAtMs: nowMs });
    nowMs += 1000;
    reject();
    await notes.write();
    expect(await readRejections(platform, source._id)).to.include({ sinceMs: nowMs });
  });

  it("end with the next that is verified after Redis was away for a moment", async () => {
    const { source, notes, reject } = await verifying();
    reject();
    await notes.write();
    const ended = new Redis({ lazyConnect: true });
    ended.disconnect();
    let isAway = true;
    const get = () => (isAway ? ended : platform.redis);
    const another = new RejectionNotes(Object.create(platform, { redis: { get } }));
    another.verified(source);
    await another.write();
    expect((await readRejections(platform, source._id)).sinceMs).not.to.equal(null);
    isAway = false;
    nowMs += 1000;
    another.verified(source);
    await another.write();
    expect(await readRejections(platform, source._id)).to.include({ sinceMs: null, verifiedAtMs: nowMs });
  });

  it("alert their owner once, if there was no other request for 15 minutes", async () => {
    const { source, notes, reject } = await verifying();
    const rejectAt = async (laterMs: number) => {
      nowMs += laterMs;
      reject();
      await notes.write();
    };
    await rejectAt(0);
    await rejectAt(LIMITS.rejectingMs.value - 1);
    expect(await alertsOf(source)).to.have.length(0);
    await rejectAt(1);
    await rejectAt(1);
    const [alert, ...others] = await alertsOf(source);
    expect(others).to.deep.equal([]);
    expect(alert).to.deep.include({ type: "source.rejecting", owner_id: source.owner_id });
    expect(alert?.details).to.include({ reason: "mismatch" });
  });

  it("raise no alert while they are only reported", async () => {
    const { source, notes, reject } = await verifying({ preset: "github", secrets: ["a"], mode: "report" });
    reject();
    nowMs += 2 * LIMITS.rejectingMs.value;
    reject();
    await notes.write();
    const { last } = await readRejections(platform, source._id);
    expect(last.map(({ reported }) => reported)).to.deep.equal([true, true]);
    expect(await alertsOf(source)).to.have.length(0);
  });

  it("have a hint if the secret is nearly right", async () => {
    const { source, notes } = await verifying({ preset: "bearer", secrets: ["token\n"] });
    const verification = verificationOf(platform, source) ?? expect.fail();
    const request = { ...REQUEST, headers: { authorization: ["Bearer token"] } };
    notes.rejected({ subject: source, verification, request, reason: "mismatch", clientIp: "192.0.2.1" });
    await notes.write();
    const [first] = (await readRejections(platform, source._id)).last;
    expect(first?.hint).to.match(/blanks/);
  });
});

import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { checkSecrets } from "../../../src/cli/doctor/records.ts";
import { linesOfResealed } from "../../../src/cli/secrets/lines.ts";
import { reseal, resealRows } from "../../../src/cli/secrets/reseal.ts";
import { newId } from "../../../src/lib/ids.ts";
import { DynamicPropsRows } from "../../../src/models/component.ts";
import { SEALED_FIELDS } from "../../../src/models/sealed-fields.ts";
import { Webhooks } from "../../../src/models/webhook.ts";
import { createSecrets } from "../../../src/store/secrets.ts";
import { rotateSigningKey } from "../../../src/webhooks/webhooks.ts";
import { findSealedTexts } from "../../support/sealed-texts.ts";
import { type System, startSystem } from "../../support/system.ts";
import { environmentOf } from "../../workers/worker-process.ts";
import { headwater } from "../command.ts";
import { type Stored, storeEverything } from "./everything-sealed.ts";

const key = () => randomBytes(32);
const text = (...keys: Buffer[]) => keys.map(one => one.toString("base64")).join(",");
const PLACES = ["sources", "webhooks", "connections", "apps", "dynamic_props", "Redis"];

interface Printed {
  done: boolean;
  places: { place: string; resealed: number; busy: number; unreadable: number; ids: string[] }[];
  left: number;
}

describe("headwater secrets reseal", () => {
  const [old, fresh, other] = [key(), key(), key()];
  let system: System;
  let stored: Stored;

  before(async () => {
    system = await startSystem({ SECRETS_KEY: text(old) }, { workers: false });
    stored = await storeEverything(system, "http://127.0.0.1:9/hook");
  });
  after(() => system?.stop());

  const command = (keys: Buffer[], args: string[] = [], env: Record<string, string> = {}) =>
    headwater(["secrets", "reseal", ...args], {
      ...environmentOf(system.web.config),
      SECRETS_KEY: text(...keys),
      ...env,
    });
  const sealedWith = async (...keys: Buffer[]) => {
    const { beginnings } = createSecrets(keys);
    const found = await findSealedTexts(system.web);
    return found.filter(({ text }) => beginnings.some(beginning => text.startsWith(beginning)));
  };
  const plainTexts = async (...keys: Buffer[]) => {
    const secrets = createSecrets(keys);
    return (await findSealedTexts(system.web))
      .map(({ place, text }) => `${place} ${secrets.open(text)}`)
      .sort();
  };
  const rowsOf = (name: string) => {
    const sealed = SEALED_FIELDS.find(one => one.name === name);
    if (!sealed) throw new Error(name);
    return sealed;
  };
  /** What the process of an installation with these keys works with. */
  const withKeys = (...keys: Buffer[]) => ({ ...system.web, secrets: createSecrets(keys) });
  /** Does in this process what the command does, and returns what it prints. */
  const resealed = async (...keys: Buffer[]) =>
    linesOfResealed(await reseal(withKeys(...keys), () => undefined), keys.length).join("\n");

  it("counts with --dry-run what it would encrypt again, and changes nothing", async () => {
    const before = await findSealedTexts(system.web);
    expect(new Set(before.map(({ place }) => place))).to.have.property("size", 11);
    const { code, stdout, stderr } = await command([fresh, old], ["--dry-run"]);
    expect(code, stderr).to.equal(0);
    const lines = stdout.trim().split("\n");
    expect(lines.map(line => line.split(":")[0]).slice(0, -1)).to.deep.equal(PLACES);
    expect(lines[0]).to.equal("sources: 1 to encrypt again");
    expect(lines.at(-1)).to.match(/^\d+ to encrypt again; nothing was changed$/);
    expect(await findSealedTexts(system.web)).to.deep.equal(before);
    expect(await checkSecrets(withKeys(fresh, old))).to.include({ severity: "note" });
    expect((await checkSecrets(withKeys(fresh, old))).message).to.match(
      /^some values still need .*1 in sources/,
    );
  });

  it("leaves what no key can read, lists it, and fails", async () => {
    const before = await findSealedTexts(system.web);
    const { code, stdout, stderr } = await command([other]);
    expect(code, stderr).to.equal(1);
    expect(stdout).to.include(
      `sources: 1 encrypted with a key that SECRETS_KEY lacks, and left as they are: ${stored.source}\n`,
    );
    expect(await findSealedTexts(system.web)).to.deep.equal(before);
    expect((await checkSecrets(withKeys(other))).severity).to.equal("problem");
  });

  it("goes on where it was killed @long", async () => {
    const { mongo, secrets } = system.web;
    const rows = Array.from({ length: 450 }, (_, n) => ({
      _id: newId("dyp"),
      owner_id: "u_1",
      component_id: "c_1",
      sealed: secrets.seal(`text ${n}`),
      expires_at: new Date(Date.now() + 3_600_000),
    }));
    await DynamicPropsRows(mongo).insertMany(rows);
    // Of the other collections each has one page.
    const env = { NODE_ENV: "test", HEADWATER_FAILPOINT: "page-resealed:6" };
    const killed = await command([fresh, old], [], env);
    expect(killed).to.include({ code: null, stdout: "" });
    expect(await sealedWith(fresh)).to.have.length.within(400, 430);
    expect(await sealedWith(old)).to.have.length.of.at.least(50);
    await DynamicPropsRows(mongo).deleteMany({ owner_id: "u_1" });
    await mongo.collection("sources").updateMany({}, { $set: { configured_props: secrets.seal("{}") } });
  });

  it("leaves nothing that needs another key than the first, unchanged otherwise, and says so", async () => {
    const before = await plainTexts(fresh, old);
    const { code, stdout, stderr } = await command([fresh, old], ["--json"]);
    expect(code, stderr).to.equal(0);
    const { done, places, left } = JSON.parse(stdout) as Printed;
    expect({ done, left, places: places.map(({ place }) => place) }).to.deep.equal({
      done: true,
      left: 0,
      places: PLACES,
    });
    expect(places.find(({ place }) => place === "sources")?.resealed).to.equal(1);
    expect(await plainTexts(fresh)).to.deep.equal(before);
    expect(await resealed(fresh, old)).to.match(
      /\ndone: nothing needs a key other than the first, so the old key can be removed/,
    );
    expect(await checkSecrets(withKeys(fresh, old))).to.include({
      severity: "note",
      advice: "remove the other keys",
    });
    expect(await checkSecrets(withKeys(fresh))).to.include({ severity: "ok" });
  });

  it("keeps for how long Redis keeps something", async () => {
    const { redis, keys } = system.web;
    const ofRecord = async () => {
      const [record = ""] = await redis
        .keys(keys.sealed()[0] ?? "")
        .then(found => found.filter(one => !one.includes("bytes")));
      return await redis.pttl(record);
    };
    const before = await ofRecord();
    expect(before).to.be.greaterThan(0);
    expect(await resealed(other, fresh)).to.match(/\ndone: /);
    expect(await ofRecord()).to.be.within(1, before);
    expect(await resealed(fresh, other)).to.match(/\ndone: /);
  });

  it("leaves the record of a request that is being handled to its process @long", async () => {
    const { redis, keys } = system.web;
    const record = `${keys.idempotency()}:${"a".repeat(64)}`;
    const inProgress = createSecrets([old]).seal(JSON.stringify({ attempt: "1", fingerprint: "x" }));
    await redis.set(record, inProgress, "PX", 60_000);
    expect(await resealed(fresh, old)).to.match(/\nNOT done: 1 were encrypted with another key/);
    expect(await redis.get(record)).to.equal(inProgress);
    await redis.del(record);
  });

  it("does not undo a change that is made at the same moment", async () => {
    const deps = withKeys(other, fresh);
    const sealed = rowsOf("connections");
    const rows = sealed.rowsIn(system.web.mongo);
    const changed = createSecrets([other]).seal(JSON.stringify({ fields: { key: "new" } }));
    const raced = Object.assign(Object.create(rows) as typeof rows, {
      async bulkWrite(...args: Parameters<typeof rows.bulkWrite>) {
        await rows.updateOne({ _id: stored.connection as never }, { $set: { secrets: changed } });
        return await rows.bulkWrite(...args);
      },
    });
    const tally = await resealRows(deps, { ...sealed, rowsIn: () => raced }, () => {});
    expect(tally).to.include({ resealed: 0, busy: 1 });
    const row = await rows.findOne({ _id: stored.connection as never });
    expect((row as { secrets?: string } | null)?.secrets).to.equal(changed);
  });

  it("does not make a rotation of a signing key fail that is requested at the same moment", async () => {
    const deps = withKeys(fresh, old, other);
    const before = await Webhooks(system.web.mongo).findById(stored.webhook).lean();
    if (!before) throw new Error("no webhook");
    await resealRows(withKeys(other, fresh, old), rowsOf("webhooks"), () => {});
    const { signing_key } = await rotateSigningKey(deps, before);
    const after = await Webhooks(system.web.mongo).findById(stored.webhook).lean();
    expect(after?.signing_keys.map(({ sealed }) => deps.secrets.open(sealed))[0]).to.equal(signing_key);
    expect(after?.signing_keys[1]?.sealed).to.match(new RegExp(`^${createSecrets([other]).beginnings[0]}`));
  });

  it("ends with 78 for settings that can't be used, and with 2 for wrong usage", async () => {
    const short = await command([randomBytes(16)]);
    expect(short.code).to.equal(78);
    expect(short.stderr).to.match(/^headwater: .*SECRETS_KEY.*\n$/);
    expect((await command([fresh], ["--nope"])).code).to.equal(2);
  });
});

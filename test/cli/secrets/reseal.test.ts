import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { reseal } from "../../../src/cli/secrets/reseal.ts";
import { Sources } from "../../../src/models/source.ts";
import { Webhooks } from "../../../src/models/webhook.ts";
import { openPlatform } from "../../../src/platform.ts";
import { createSecrets } from "../../../src/store/secrets.ts";
import { testConfig } from "../../support/platform.ts";
import { type System, startSystem } from "../../support/system.ts";
import { headwater } from "../command.ts";

const key = () => randomBytes(32);
const text = (...keys: Buffer[]) => keys.map(one => one.toString("base64")).join(",");
const CODE = `export default { name: "Kept", version: "0.0.1", props: { token: { type: "string", secret: true } }, run() {} };`;

describe("headwater secrets reseal", () => {
  const [old, fresh, other] = [key(), key(), key()];
  let system: System;
  let ids: { source: string; webhook: string };

  before(async () => {
    system = await startSystem({ SECRETS_KEY: text(old) }, { workers: false });
    const api = await system.user();
    const code = { name: "kept", component_code: CODE, configured_props: { token: "s3cret" } };
    const source = await api.createSource(code);
    const hook = { url: "http://127.0.0.1:9/hook", headers: { "x-token": "t0ken" } };
    const webhook = await api.expect<{ id: string }>(201, "POST", "/webhooks", { body: hook });
    await api.expect(200, "POST", `/webhooks/${webhook.id}/rotate_signing_key`);
    ids = { source: source.id, webhook: webhook.id };
  });
  after(() => system.stop());

  /** What an installation with these keys has stored, read with these others. */
  async function stored(...keys: Buffer[]) {
    const secrets = createSecrets(keys);
    const { mongo } = system.web;
    const source = await Sources(mongo).findById(ids.source).lean();
    const webhook = await Webhooks(mongo).findById(ids.webhook).lean();
    return {
      props: secrets.open(source?.configured_props ?? ""),
      headers: secrets.open(webhook?.headers ?? ""),
      keys: webhook?.signing_keys.map(({ sealed }) => secrets.open(sealed)),
    };
  }

  async function resealWith(...keys: Buffer[]) {
    const { mongodbUrl, redisPrefix } = system.web.config;
    const settings = { MONGODB_URL: mongodbUrl, REDIS_PREFIX: redisPrefix, SECRETS_KEY: text(...keys) };
    const platform = await openPlatform(testConfig(settings), "cli");
    try {
      return await reseal(platform);
    } finally {
      await platform.close();
    }
  }

  it("lists what no key can read, and leaves it as it is", async () => {
    expect(await resealWith(other)).to.deep.equal({
      sources: 0,
      webhooks: 0,
      unreadable: [ids.source, ids.webhook],
    });
    expect((await stored(old)).props).to.include("s3cret");
  });

  it("makes everything readable with the first key alone, unchanged, and then does nothing more", async () => {
    const before = await stored(old);
    expect(before.keys).to.have.length(2);
    expect(await resealWith(fresh, old)).to.deep.equal({ sources: 1, webhooks: 1, unreadable: [] });
    expect(await stored(fresh)).to.deep.equal(before);
    expect(await resealWith(fresh)).to.deep.equal({ sources: 0, webhooks: 0, unreadable: [] });
  });

  it("prints what it did as JSON", async () => {
    const { mongodbUrl, redisUrl, redisPrefix } = system.web.config;
    const env = {
      ...{ MONGODB_URL: mongodbUrl, REDIS_URL: redisUrl, REDIS_PREFIX: redisPrefix },
      SECRETS_KEY: text(other, fresh),
    };
    const { code, stdout, stderr } = await headwater(["secrets", "reseal"], env);
    expect(code, stderr).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.equal({ sources: 1, webhooks: 1, unreadable: [] });
  });
});

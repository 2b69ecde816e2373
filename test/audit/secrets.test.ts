import { expect } from "chai";
import { AuditEntries } from "../../src/models/audit-entry.ts";
import { BrowserApi, signInWith } from "../accounts/sessions/browser.ts";
import { type System, startSystem } from "../support/system.ts";

const SECRET = "the-secret-of-this-test";
const KEY = `whsec_${Buffer.from(SECRET.padEnd(32, "!")).toString("base64")}`;

const CODE = (type: string) => `export default { name: "Secretive", version: "0.0.1", type: "${type}",
  props: { token: { type: "string", secret: true } }, run() {} };`;

describe("entries of the audit log", () => {
  let system: System;
  before(async () => {
    system = await startSystem({}, { workers: false });
  });
  after(() => system.stop());

  it("have no value of any request, nor a credential, whatever was set by it", async () => {
    const api = await system.user();
    const make = (path: string, body: object) => api.expect(201, "POST", path, { body });
    const change = (path: string, body: object) => api.expect(200, "PUT", path, { body });
    const within = (value: object) => ({ ...value, configured_props: { token: SECRET } });

    const webhook = await api.expect(201, "POST", "/webhooks", {
      query: { url: `https://example.com/${SECRET}` },
      body: { headers: { "x-api-key": SECRET }, signing_key: KEY },
    });
    await change(`/webhooks/${webhook.id}`, { headers: { "x-api-key": `${SECRET}2` } });
    await api.expect(200, "POST", `/webhooks/${webhook.id}/rotate_signing_key`, {
      body: { signing_key: KEY.replace("T", "U") },
    });
    const stream = { url: "redis://redis.example.com/", stream: "s", password: SECRET };
    const destination = await make("/destinations", { redis_stream: stream });
    await change(`/destinations/${destination.id}`, { redis_stream: { password: `${SECRET}2` } });
    const source = await make("/sources", within({ component_code: CODE("source") }));
    await change(`/sources/${source.id}`, { configured_props: { token: `${SECRET}2` } });
    await make("/destinations", { action: within({ component_code: CODE("action") }) });
    const connection = { app: "weather", name: "Weather", fields: { api_key: SECRET } };
    const { id } = await make("/connections", connection);
    await change(`/connections/${id}`, { fields: { api_key: `${SECRET}2` } });
    const { api_key } = await make("/api_keys", { name: "script" });
    const cookie = await signInWith(api);
    const { url: link } = await make("/sign_in_links", {});
    const token = new URL(link).hash.replace("#link=", "");
    await new BrowserApi(api.baseUrl, cookie).expect(201, "POST", "/sessions", { body: { link: token } });

    const entries = await AuditEntries(system.worker.mongo).find().lean();
    expect(entries.length).to.be.greaterThan(13);
    const written = JSON.stringify(entries);
    const sessionToken = cookie.split("=")[1] ?? "";
    const kept = [SECRET, KEY.slice(6, 26), webhook.signing_key, api_key, api.apiKey, sessionToken, token];
    for (const secret of kept) {
      expect(secret.length).to.be.greaterThan(7);
      expect(written.includes(secret), secret).to.equal(false);
    }
  });
});

import { expect } from "chai";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import { keepClient, storeClient } from "../../../src/mcp/oauth/records.ts";
import { OAuthRecords } from "../../../src/models/oauth-record.ts";
import { type System, startSystem } from "../../support/system.ts";
import { Host, REDIRECT } from "./host.ts";

describe("clients of agents that register themselves", () => {
  let system: System;
  let api: Awaited<ReturnType<System["user"]>>;
  before(async () => {
    system = await startSystem({ TRUST_PROXY: "true" }, { workers: false });
    api = await system.user();
  });
  after(() => system.stop());

  const records = () => OAuthRecords(system.worker.mongo);

  it("are kept with what is used of their metadata, and are public ones", async () => {
    const { status, body } = await new Host(api).register({
      ...{
        scope: "anything",
        contacts: ["me"],
        jwks_uri: "http://127.0.0.1/",
        client_secret: "s",
        logo_uri: "x",
      },
      grant_types: ["authorization_code"],
    });
    expect(status).to.equal(201);
    expect(body).to.have.all.keys(
      ...[
        "client_id",
        "client_id_issued_at",
        "client_name",
        "redirect_uris",
        "grant_types",
        "response_types",
      ],
      ...["token_endpoint_auth_method", "application_type"],
    );
    expect(body.token_endpoint_auth_method).to.equal("none");
  });

  it("are rejected with what is wrong with them", async () => {
    const host = new Host(api);
    const wrong: object[] = [
      { redirect_uris: [] },
      { redirect_uris: "https://example.com/" },
      { redirect_uris: ["http://example.com/callback"] },
      { redirect_uris: ["javascript:alert(1)"] },
      { redirect_uris: ["data:text/html,x"] },
      { redirect_uris: ["https://user:pass@example.com/"] },
      { redirect_uris: ["https://example.com/#fragment"] },
      { redirect_uris: ["not an address"] },
      { token_endpoint_auth_method: "client_secret_basic" },
      { grant_types: ["client_credentials"] },
      { response_types: ["token"] },
      { client_name: 5 },
    ];
    for (const metadata of wrong) {
      const { status, body } = await host.register(metadata);
      expect([status, body.error], JSON.stringify(metadata)).to.deep.equal([400, "invalid_client_metadata"]);
      expect(body.error_description).to.be.a("string").and.not.equal("");
    }
    const others = new Host(api);
    expect(
      (await others.register({ client_name: "x".repeat(LIMITS.oauthClientBytes.value) })).status,
    ).to.equal(413);
    const init = { method: "POST", headers: { "content-type": "application/json" } };
    for (const body of ["[]", "5", "{", ""]) {
      expect((await others.send("/oauth/register", { ...init, body })).status, body).to.equal(400);
    }
  });

  it("may send users to programs of theirs", async () => {
    const redirect_uris = [
      "https://claude.ai/api/mcp/auth_callback",
      "cursor://anysphere.cursor/callback",
      REDIRECT,
    ];
    expect((await new Host(api).register({ redirect_uris })).status).to.equal(201);
  });

  it("are bounded for each address", async () => {
    const host = new Host(api);
    const statuses: number[] = [];
    for (let n = 0; n <= LIMITS.oauthRegistrations.value; n++) statuses.push((await host.register()).status);
    expect(statuses.slice(0, -1)).to.deep.equal(Array(LIMITS.oauthRegistrations.value).fill(201));
    expect(statuses.at(-1)).to.equal(429);
    expect((await new Host(api).register()).status).to.equal(201);
  });

  it("are bounded in requests of all kinds for each address", async () => {
    const host = new Host(api);
    const statuses: number[] = [];
    for (let n = 0; n <= LIMITS.oauthRequests.value; n++) {
      statuses.push((await host.form("/oauth/token", { grant_type: "x" })).status);
    }
    expect(statuses.slice(0, -1)).to.deep.equal(Array(LIMITS.oauthRequests.value).fill(400));
    expect(statuses.at(-1)).to.equal(429);
  });

  it("send users with parameters of some length, as long as not too many requests wait", async () => {
    const host = new Host(api);
    await host.register();
    const statusOf = async (url: URL) => (await host.send(url.pathname + url.search)).status;
    const long = host.authorizeUrl({ state: "x".repeat(LIMITS.oauthRequestCharacters.value) });
    expect(await statusOf(long)).to.equal(413);
    // What the server does not heed does not count.
    const ignored = host.authorizeUrl({ nonce: "x".repeat(LIMITS.oauthRequestCharacters.value) });
    expect(await statusOf(ignored)).to.equal(303);
    const rows = Array.from({ length: LIMITS.oauthRequestsWaiting.value - 1 }, (_, n) => ({
      ...{ _id: `Interaction:${n}`, payload: "{}", expires_at: new Date(Date.now() + 600_000) },
    }));
    await records().insertMany(rows);
    expect(await statusOf(host.authorizeUrl())).to.equal(429);
    await records().deleteOne({ _id: "Interaction:0" });
    expect(await statusOf(host.authorizeUrl())).to.equal(303);
    await records().deleteMany({ _id: /^Interaction:/ });
  });

  it("are deleted soon unless a user lets them in, the oldest first if thousands register", async () => {
    const [platform, most] = [system.worker, LIMITS.oauthUnusedClients.value];
    const add = (n: number) => storeClient(platform, `client-${n}`, { client_id: `client-${n}` });
    await records().deleteMany({});
    for (let n = 0; n < 3; n++) await add(n);
    await keepClient(platform, "client-0");
    const [old] = await records()
      .find({ unused_since_ms: { $gt: 0 } })
      .lean();
    expect((old?.expires_at.getTime() ?? 0) - Date.now()).to.be.closeTo(
      LIMITS.oauthUnusedClientMs.value,
      60_000,
    );
    const rows = Array.from({ length: most - 2 }, (_, n) => ({
      ...old,
      _id: `Client:${n}`,
      payload: "{}",
      unused_since_ms: 1000 + n,
    }));
    await records().insertMany(rows);
    await add(3);
    expect(await records().countDocuments({ unused_since_ms: { $gt: 0 } })).to.equal(most);
    expect(await records().exists({ _id: "Client:0" }), "the oldest").to.equal(null);
    expect(await records().exists({ _id: "Client:1" })).not.to.equal(null);
    expect(await records().countDocuments({ unused_since_ms: null }), "the one that was let in").to.equal(1);
    await records().deleteMany({});
  });
});

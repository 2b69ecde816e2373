import { expect } from "chai";
import { Connections } from "../../src/models/connection.ts";
import { type AppServer, CookieBrowser, registerApp, startAppServer } from "../connections/app-server.ts";
import type { Api, SourceView } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const CODE = `export default { name: "Calls", version: "0.0.1",
  props: { http: "$.interface.http", demo: { type: "app", app: "demo" } },
  run({ body }) { this.$emit({ n: body.n, token: this.demo.$auth.oauth_access_token }); } };`;
const EXPIRIES = 3;

/** docs/connections.md */
describe("a component that runs with a connection by OAuth", () => {
  let system: System;
  let app: AppServer;
  let told: Receiver;
  let api: Api & { userId: string };
  let source: SourceView;
  let id: string;

  before(async () => {
    system = await startSystem();
    app = await startAppServer(system.baseUrl.replace("/v1", ""));
    await registerApp(system.web, app);
    told = await startReceiver();
    api = await system.user();
    await api.subscribe(api.userId, (await api.createWebhook(told.url)).id, "$alerts");
    id = await agreeTo(await api.expect(201, "POST", "/connections/consents", { body: { app: "demo" } }));
    source = await api.createSource({
      component_code: CODE,
      configured_props: { demo: { authProvisionId: id } },
    });
  });
  after(async () => {
    await system?.stop();
    await Promise.all([app?.stop(), told?.close()]);
  });

  /** Goes to the address of a consent, and agrees there and at the app; returns the connection's id. */
  async function agreeTo({ url, connection_id }: { url: string; connection_id: string }): Promise<string> {
    const browser = new CookieBrowser();
    const { status } = await browser.request(await browser.consent(await browser.agree(url)));
    expect(status).to.equal(200);
    app.grants.length = 0;
    return connection_id;
  }
  /** The token's time is over, as if so much had passed. */
  async function expire(): Promise<void> {
    const past = Date.now() - 1000;
    const ended = { expires_at_ms: past, renew_from_ms: past, retry_at_ms: null };
    await Connections(system.web.mongo).updateOne({ _id: id }, { $set: ended });
    await system.web.routing.invalidate([api.userId]);
  }
  let sent = 0;
  const send = async () => {
    sent += 1;
    await fetch(source.configured_props.http?.endpoint_url ?? "", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ n: sent }),
    });
  };
  /** Runs it, and returns the token that it had. */
  async function run(): Promise<string> {
    await send();
    const found = await until(
      async () => (await api.summaries(source.id)).find(({ event }) => event.raw_event.n === sent),
      { what: `the event of run ${sent}` },
    );
    return found.event.raw_event.token;
  }
  const health = async () => (await api.expect(200, "GET", `/connections/${id}`)).health;

  it("has a token that the app has just given, over three expiries, each renewed once", async () => {
    const tokens = [await run()];
    for (let expiry = 1; expiry <= EXPIRIES; expiry += 1) {
      await expire();
      tokens.push(await run());
      expect(await run(), "until it ends, too").to.equal(tokens.at(-1));
      expect(app.grants).to.deep.equal(Array(expiry).fill("refresh_token"));
    }
    expect(new Set(tokens)).to.have.property("size", EXPIRIES + 1);
    expect(app.issued).to.include.members(tokens);
    expect(await health()).to.equal("working");
  });

  it("fails once the access is taken back, which its owner is told, and goes on once it is granted again", async () => {
    await app.revokeAll();
    await expire();
    await send();
    const [error] = await until(
      async () => {
        const errors = await api.summaries(source.id, { stream: "$errors" });
        return errors.length > 0 && errors;
      },
      { what: "the run's error" },
    );
    expect(error?.event.error.code).to.equal("Connection Failed");
    expect(JSON.stringify(error)).to.contain(id).and.to.contain("invalid_grant");
    expect(await health()).to.equal("broken");
    const alert = await until(() => told.requests[0], { what: "the alert" });
    expect(JSON.parse(alert.raw)).to.deep.include({ type: "connection.broken", account_id: api.userId });
    expect(JSON.parse(alert.raw).subject.id).to.equal(id);
    for (const secret of app.issued) expect(alert.raw + JSON.stringify(error)).not.to.contain(secret);

    await agreeTo(await api.expect(201, "POST", `/connections/${id}/reconnect`));
    expect(app.issued).to.include(await run());
    expect(await health()).to.equal("working");
    expect(told.requests, "told once").to.have.length(1);
  });
});

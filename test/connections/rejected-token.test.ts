// runs-long: npm test has test/connections/renew.test.ts
import { expect } from "chai";
import { connectProps } from "../../src/connections/connect-props.ts";
import { noteUse, type UsedToken } from "../../src/connections/note-use.ts";
import { Alerts } from "../../src/models/alert.ts";
import { type Connection, Connections } from "../../src/models/connection.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import type { Api, SourceView } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { type AppServer, connectTo, RESOURCE, registerApp, startAppServer, TOKEN_S } from "./app-server.ts";

const MINUTE_MS = 60_000;
const UNAUTHORIZED = { error: { code: "Error", message: "401", stack: "" }, unauthorized: true } as const;

describe("a token that its app ends before its time", () => {
  let shiftMs = 0;
  const clock = () => Date.now() + shiftMs;
  let system: System;
  let other: Platform;
  let api: Api & { userId: string };
  let server: AppServer;
  let id: string;

  before(async () => {
    system = await startSystem({ SANDBOX_EGRESS_ALLOW: "127.0.0.0/8" });
    for (const platform of [system.web, system.worker])
      Object.defineProperty(platform, "clock", { value: clock });
    other = await openPlatform(system.worker.config, "runs", { clock });
    server = await startAppServer(system.web.config.publicUrl);
    await registerApp(system.web, server);
  });
  after(async () => {
    await server?.stop();
    await other?.close();
    await system?.stop();
  });
  beforeEach(async () => {
    shiftMs = 0;
    server.isAway = false;
    api = await system.user({ plan: "paid" });
    id = await connectTo(system.web, server, api.userId);
  });

  const stored = async () => (await Connections(system.web.mongo).findById(id).lean()) as Connection;
  const shown = () => api.expect(200, "GET", `/connections/${id}`);

  /** What code finds in `$auth`, in a worker. */
  async function use(platform: Platform = system.worker): Promise<{ token: string; tokens: UsedToken[] }> {
    await platform.routing.refresh();
    const props = [{ name: "demo", type: "app", app: "demo" }];
    const values = { demo: { authProvisionId: id } };
    const connected = await connectProps(platform, api.userId, { props, values });
    const { $auth } = connected.values.demo as { $auth: { oauth_access_token: string } };
    return { token: $auth.oauth_access_token, tokens: connected.tokens };
  }
  /** A call that is rejected, or not. */
  async function call(by: string, isRejected: boolean, platform: Platform = system.worker) {
    const { token, tokens } = await use(platform);
    await noteUse(platform, { tokens, by }, isRejected ? UNAUTHORIZED : {});
    return token;
  }

  const code = (body: string, more = "") => `
    const ask = async self => {
      const headers = { authorization: "Bearer " + self.demo.$auth.oauth_access_token };
      const { status } = await fetch("${server.url}${RESOURCE}", { headers });
      if (status !== 200) throw Object.assign(new Error("the app said no"), { response: { status } });
      return status;
    };
    export default { name: "Asks", version: "0.0.1", ${more}
      props: {
        ${more ? "" : 'http: "$.interface.http",'}
        demo: { type: "app", app: "demo" },
        room: { type: "string", optional: true, async options() { return [String(await ask(this))]; } },
      },
      async run() { ${body} } };`;
  const deploy = (): Promise<SourceView> =>
    api.createSource({
      component_code: code("this.$emit({ status: await ask(this) });"),
      configured_props: { demo: { authProvisionId: id } },
    });
  const trigger = (source: SourceView) =>
    fetch(source.configured_props.http?.endpoint_url ?? "", { method: "POST" });
  const outcomes = async (source: SourceView, count: number): Promise<string[]> => {
    const runs = await until(async () => {
      const found = await api.expect(200, "GET", `/sources/${source.id}/runs`);
      return found.length === count && found;
    });
    return runs.map(({ outcome }: { outcome: string }) => outcome).reverse();
  };

  it("is renewed before the next run of a source, which succeeds", async () => {
    const source = await deploy();
    await trigger(source);
    expect(await outcomes(source, 1)).to.deep.equal(["ok"]);
    await server.revokeAccess();
    await trigger(source);
    expect(await outcomes(source, 2)).to.deep.equal(["ok", "Error"]);
    await until(async () => (await shown()).error !== null);
    const { health, error } = await shown();
    expect([health, error.code]).to.deep.equal(["working", "token-rejected"]);
    expect(error.message).to.contain(
      `HTTP 401) when ${source.id} used it; it is renewed before the next run`,
    );
    await trigger(source);
    expect(await outcomes(source, 3)).to.deep.equal(["ok", "Error", "ok"]);
    expect(server.grants).to.deep.equal(["refresh_token"]);
    await until(async () => (await stored()).rejection === null, { what: "that the rejection is over" });
    expect(await shown()).to.deep.include({ health: "working", error: null });
    expect(await Alerts(system.web.mongo).countDocuments({ owner_id: api.userId })).to.equal(0);
  });

  it("is renewed before an action's next attempt, and before choices are asked for again", async () => {
    const source = await api.createSource({
      component_code: `export default { name: "S", version: "0.0.1", props: { http: "$.interface.http" },
        run() { this.$emit({ n: 1 }); } };`,
    });
    const action = await api.expect(201, "POST", "/destinations", {
      body: {
        action: {
          component_code: code("return await ask(this);", 'type: "action",'),
          configured_props: { demo: { authProvisionId: id } },
        },
      },
    });
    await server.revokeAccess();
    const test = () => api.expect(200, "POST", `/destinations/${action.id}/test`);
    expect((await test()).error).to.contain("the app said no");
    expect((await test()).error).to.equal(null);
    expect(server.grants).to.deep.equal(["refresh_token"]);

    const asking = await deploy();
    await server.revokeAccess();
    shiftMs += 10 * MINUTE_MS;
    const configure = () =>
      api.expect(200, "POST", `/components/${asking.component_id}/configure`, {
        body: { prop_name: "room", configured_props: { demo: { authProvisionId: id } } },
      });
    expect((await configure()).error.message).to.equal("the app said no (HTTP 401)");
    expect((await configure()).options.map(({ value }: { value: string }) => value)).to.deep.equal(["200"]);
    expect(server.grants).to.deep.equal(["refresh_token", "refresh_token"]);
    await api.request("DELETE", `/sources/${source.id}`);
  });

  it("is renewed once, however many calls of two workers it rejects", async () => {
    const used = await Promise.all([use(), use(other), use(), use(other)]);
    const platforms = [system.worker, other, system.worker, other];
    const note = (i: number) =>
      noteUse(platforms[i] as Platform, { tokens: used[i]?.tokens ?? [], by: "dc_x" }, UNAUTHORIZED);
    await Promise.all([note(0), note(1)]);
    const release = server.holdTokens();
    const next = platforms.map(platform => use(platform));
    await until(async () => (await stored()).renewal_began_at_ms !== null);
    release();
    const tokens = new Set((await Promise.all(next)).map(({ token }) => token));
    expect([...tokens]).to.have.length(1);
    expect(tokens.has(used[0]?.token ?? "")).to.equal(false);
    // Late calls with the token of before say nothing about the new one.
    await Promise.all([note(2), note(3)]);
    expect(tokens.has((await use(other)).token)).to.equal(true);
    expect(server.grants).to.deep.equal(["refresh_token"]);
  });

  it("is not renewed for each run of code that is always rejected: the pause doubles, until it succeeds", async () => {
    const renewedAt: number[] = [];
    for (let minute = 0; minute <= 120; minute += 1) {
      shiftMs = minute * MINUTE_MS;
      const before = server.grants.length;
      if (minute > 0 && minute % 50 === 0) await call("dc_other", false);
      await call("dc_always", true);
      if (server.grants.length > before) renewedAt.push(minute);
      // An hour's token is renewed in any case.
      await Connections(system.web.mongo).updateOne(
        { _id: id },
        { $set: { expires_at_ms: clock() + TOKEN_S * 1000, renew_from_ms: clock() + TOKEN_S * 500 } },
      );
      await system.worker.routing.invalidate([api.userId]);
    }
    expect(renewedAt.length).to.be.within(4, 6);
    const gaps = renewedAt.slice(1).map((minute, i) => minute - (renewedAt[i] ?? 0));
    for (const [i, gap] of gaps.entries()) expect(gap).to.be.at.least(5 * 2 ** i);
    const { error, health } = await shown();
    expect(health).to.equal("working");
    expect(error.message)
      .to.contain("although it is new")
      .and.to.contain("It is not renewed for that before 20");
    await call("dc_other", false);
    expect((await stored()).rejection?.times, "others prove nothing").to.be.above(3);
    await call("dc_always", false);
    expect((await stored()).rejection).to.equal(null);
    expect((await shown()).error).to.equal(null);
    await call("dc_always", true);
    const before = server.grants.length;
    await use();
    expect(server.grants.length).to.equal(before + 1);
  });

  it("counts as ended: while it can't be renewed, the connection fails, and it breaks if the access was taken back", async () => {
    await call("dc_x", true);
    server.isAway = true;
    const failure = await use().catch((error: Error) => error);
    expect(failure).to.be.instanceOf(Error);
    expect((await shown()).health).to.equal("failing");
    server.isAway = false;
    shiftMs += MINUTE_MS;
    await use();
    expect((await shown()).health).to.equal("working");
    await call("dc_x", true);
    expect((await shown()).health, "too soon").to.equal("working");
    await server.revokeAll();
    shiftMs += 10 * MINUTE_MS;
    await call("dc_x", true);
    await use().catch(() => undefined);
    expect(await shown()).to.deep.include({ health: "broken" });
    expect((await shown()).error.code).to.equal("invalid_grant");
  });

  it("goes on being used if nothing can renew it, and says so", async () => {
    const { secrets } = await stored();
    const { refreshToken: _, ...kept } = JSON.parse(system.web.secrets.open(secrets));
    await Connections(system.web.mongo).updateOne(
      { _id: id },
      { $set: { secrets: system.web.secrets.seal(JSON.stringify(kept)) } },
    );
    await system.web.routing.invalidate([api.userId]);
    const before = await call("dc_x", true);
    expect((await use()).token).to.equal(before);
    expect((await shown()).error.message).to.contain("reconnect it if this goes on");
    expect(await api.request("POST", `/connections/${id}/renew`)).to.include({ status: 409 });
    await call("dc_x", false);
    expect((await shown()).error).to.equal(null);
    expect(server.grants).to.deep.equal([]);
  });

  it("is renewed by hand, but not when it is new, by its owner only", async () => {
    const { token } = await use();
    shiftMs += 11_000;
    const stranger = await system.user();
    expect((await stranger.request("POST", `/connections/${id}/renew`)).status).to.equal(404);
    const { refreshed_at, health } = await api.expect(200, "POST", `/connections/${id}/renew`);
    expect([refreshed_at, health]).to.deep.equal([
      Math.floor(Number((await stored()).renewed_at_ms) / 1000),
      "working",
    ]);
    expect((await use()).token).not.to.equal(token);
    const renewed = (await use()).token;
    await api.expect(200, "POST", `/connections/${id}/renew`);
    expect((await use()).token, "a moment later").to.equal(renewed);
    shiftMs += 11_000;
    server.isAway = true;
    const away = await api.request("POST", `/connections/${id}/renew`);
    expect(away.status).to.equal(503);
    expect((await shown()).health, "its token is as good as before").to.equal("working");
    const keys = { body: { app: "weather", fields: { api_key: "x" } } };
    const other = await api.expect(201, "POST", "/connections", keys);
    expect((await api.request("POST", `/connections/${other.id}/renew`)).status).to.equal(409);
    expect(server.grants).to.deep.equal(["refresh_token"]);
  });
});

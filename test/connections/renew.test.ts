import { expect } from "chai";
import { createUser } from "../../src/accounts/users.ts";
import { connectProps } from "../../src/connections/connect-props.ts";
import { ConnectionFailed } from "../../src/connections/look-up.ts";
import { Alerts } from "../../src/models/alert.ts";
import { type Connection, Connections } from "../../src/models/connection.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";
import { type AppServer, connectTo, registerApp, startAppServer, TOKEN_S } from "./app-server.ts";

const PUBLIC_URL = "http://127.0.0.1:9";
const APP_PROP = { name: "demo", type: "app", app: "demo" };
const MINUTE_MS = 60_000;

describe("the token of a connection", () => {
  let shiftMs = 0;
  const clock = () => Date.now() + shiftMs;
  let one: TestPlatform;
  let two: Platform;
  let server: AppServer;
  let ownerId: string;
  before(async () => {
    one = await openTestPlatform({ PUBLIC_URL }, { clock });
    two = await openPlatform(one.config, "runs", { clock });
    server = await startAppServer(PUBLIC_URL);
    await registerApp(one, server);
    ownerId = (await createUser(one, { email: "owner@example.test", plan: "paid" })).id;
  });
  after(async () => {
    await server?.stop();
    await two?.close();
    await one?.destroy();
  });
  beforeEach(() => {
    shiftMs = 0;
    server.isAway = false;
  });

  const connect = () => connectTo(one, server, ownerId);

  /** What a run finds in `$auth`, in a worker. */
  async function authOf(platform: Platform, authProvisionId: string): Promise<Record<string, string>> {
    await platform.routing.refresh();
    const values = { demo: { authProvisionId } };
    const connected = await connectProps(platform, ownerId, { props: [APP_PROP], values });
    return (connected.values.demo as { $auth: Record<string, string> }).$auth;
  }

  const tokenOf = async (platform: Platform, id: string) => (await authOf(platform, id)).oauth_access_token;
  const stored = async (id: string) =>
    (await Connections(one.mongo).findById(id).lean<Connection>()) as Connection;
  const failureOf = (work: Promise<unknown>): Promise<ConnectionFailed> =>
    work.then(
      () => {
        throw new Error("it did not fail");
      },
      (error: unknown) => {
        expect(error).to.be.instanceOf(ConnectionFailed);
        return error as ConnectionFailed;
      },
    );

  it("is used as long as 5 minutes are left of it, and then renewed, past three expiries with rotation", async () => {
    const id = await connect();
    const tokens = [await tokenOf(one, id)];
    for (let expiry = 1; expiry <= 3; expiry += 1) {
      shiftMs += TOKEN_S * 1000 - 6 * MINUTE_MS;
      expect(await tokenOf(one, id), "6 minutes left").to.equal(tokens.at(-1));
      shiftMs += 2 * MINUTE_MS;
      const next = await tokenOf(one, id);
      expect(tokens, "4 minutes left").not.to.include(next);
      tokens.push(next);
      expect(await tokenOf(two, id), "in another worker").to.equal(next);
      expect(server.grants).to.deep.equal(Array(expiry).fill("refresh_token"));
    }
    shiftMs += 2 * TOKEN_S * 1000;
    expect(tokens, "long after its end").not.to.include(await tokenOf(two, id));
    expect((await stored(id)).health).to.equal("working");
  });

  it("is renewed once, however many runs of two workers need it at once", async () => {
    const id = await connect();
    const before = await tokenOf(one, id);
    await tokenOf(two, id);
    shiftMs = TOKEN_S * 1000;
    const release = server.holdTokens();
    const runs = [one, two, one, two, one, two].map(platform => tokenOf(platform, id));
    await until(async () => (await stored(id)).renewal_began_at_ms !== null);
    release();
    const tokens = new Set(await Promise.all(runs));
    expect([...tokens]).to.have.length(1);
    expect(tokens.has(before)).to.equal(false);
    expect(server.grants).to.deep.equal(["refresh_token"]);
  });

  it("ends for good when the access is taken back: runs fail at once, with the app's error code and no token", async () => {
    const id = await connect();
    await tokenOf(two, id);
    await server.revokeAll();
    shiftMs = TOKEN_S * 1000;
    const { message } = await failureOf(tokenOf(one, id));
    expect(message).to.match(/the app responded with invalid_grant; reconnect it$/);
    expect(message).to.contain(id);
    for (const platform of [one, two]) await failureOf(tokenOf(platform, id));
    expect(server.grants, "asked once").to.deep.equal(["refresh_token: invalid_grant"]);
    const { health, fault } = await stored(id);
    expect([health, fault?.code]).to.deep.equal(["broken", "invalid_grant"]);
    const alerts = await Alerts(one.mongo).find({ "subject.id": id }).lean();
    expect(alerts.map(({ owner_id, type, details }) => [owner_id, type, details.code])).to.deep.equal([
      [ownerId, "connection.broken", "invalid_grant"],
    ]);
    const said = message + fault?.message + JSON.stringify(alerts);
    for (const secret of server.issued) expect(said).not.to.contain(secret);
  });

  it("goes on being used while the app is away, fails when it has ended, and recovers by itself", async () => {
    const id = await connect();
    const token = await tokenOf(one, id);
    server.isAway = true;
    shiftMs = TOKEN_S * 1000 - 2 * MINUTE_MS;
    expect(await tokenOf(one, id)).to.equal(token);
    expect((await stored(id)).health).to.equal("working");
    expect((await stored(id)).fault?.code).to.equal("app-away");
    shiftMs = TOKEN_S * 1000;
    await failureOf(tokenOf(one, id));
    expect((await stored(id)).health).to.equal("failing");
    server.isAway = false;
    expect((await failureOf(tokenOf(two, id))).message, "not asked again so soon").to.contain("app");
    expect(server.grants).to.deep.equal([]);
    shiftMs += MINUTE_MS;
    expect(await tokenOf(two, id)).not.to.equal(token);
    const { health, fault } = await stored(id);
    expect([health, fault]).to.deep.equal(["working", null]);
  });

  it("of a renewal that was interrupted says that the app may have replaced it", async () => {
    const id = await connect();
    const before = await stored(id);
    shiftMs = TOKEN_S * 1000;
    await tokenOf(one, id);
    // As a worker leaves it that is killed before it has stored the reply.
    const { secrets, version, expires_at_ms, renew_from_ms } = before;
    await Connections(one.mongo).updateOne(
      { _id: id },
      { $set: { secrets, version, expires_at_ms, renew_from_ms, renewal_began_at_ms: clock() } },
    );
    await one.routing.invalidate([ownerId]);
    const { message } = await failureOf(tokenOf(one, id));
    expect(message).to.contain("after a renewal that was interrupted");
    expect((await stored(id)).health).to.equal("broken");
  });

  it("that a slow worker receives late does not replace the one of a consent since", async () => {
    const id = await connect();
    shiftMs = TOKEN_S * 1000;
    const release = server.holdTokens();
    const run = tokenOf(one, id);
    await until(async () => (await stored(id)).renewal_began_at_ms !== null);
    // As a consent does, which needs no token endpoint here.
    const kept = { fields: {}, accessToken: "of the consent", refreshToken: "of the consent, too" };
    const secrets = one.secrets.seal(JSON.stringify(kept));
    const times = { expires_at_ms: clock() + TOKEN_S * 1000, renew_from_ms: clock() + TOKEN_S * 500 };
    await Connections(one.mongo).updateOne(
      { _id: id },
      { $set: { secrets, ...times }, $inc: { version: 1 } },
    );
    await one.routing.invalidate([ownerId]);
    release();
    expect(await run).to.equal("of the consent");
    expect(await tokenOf(two, id)).to.equal("of the consent");
  });

  it("of another account is not to be had, and a deleted connection gives none", async () => {
    const id = await connect();
    const values = { demo: { authProvisionId: id } };
    const foreign = connectProps(one, "u_somebody", { props: [APP_PROP], values });
    expect((await failureOf(foreign)).message).to.contain("no longer exists");
    await Connections(one.mongo).deleteOne({ _id: id });
    await one.routing.invalidate([ownerId]);
    for (const platform of [one, two]) await failureOf(tokenOf(platform, id));
  });

  it("is nowhere in the stores in the clear, and neither is the client's secret", async () => {
    await connect();
    const names = await one.mongo.db?.listCollections().toArray();
    for (const { name } of names ?? []) {
      const text = JSON.stringify(await one.mongo.db?.collection(name).find().toArray());
      for (const secret of server.issued) expect(text, name).not.to.contain(secret);
      expect(text, name).not.to.contain("a secret of the test");
    }
  });
});

import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { expect } from "chai";
import { setOperator } from "../../src/accounts/operators.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import type { Api, SourceView } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

/** Emits what a connection to the port of the request's body came to, on this machine. */
const CODE = `import net from "node:net";
const reach = (host, port) => new Promise(done => {
  const socket = net.connect({ host, port });
  socket.once("data", text => { socket.destroy(); done(String(text)); });
  socket.once("error", error => done("failed: " + error.message));
});
export default { name: "Reaches", version: "0.0.1",
  props: {
    http: "$.interface.http",
    database: { type: "app", app: "database", optional: true },
    port: { type: "string", optional: true, async options() { return [await reach("127.0.0.1", 5432)]; } },
  },
  async run({ body: { host = "127.0.0.1", port } }) { this.$emit({ got: await reach(host, port) }); } };`;

type User = Api & { userId: string };

describe("private addresses of a connection", () => {
  let system: System;
  let [anna, olga]: User[] = [];
  let inside: Server;
  let port: number;

  before(async () => {
    inside = createServer(socket => socket.on("error", () => undefined).end("from inside"));
    await once(inside.listen(0, "127.0.0.1"), "listening");
    ({ port } = inside.address() as AddressInfo);
    system = await startSystem();
    [anna, olga] = [await system.user({ plan: "paid" }), await system.user()];
    await setOperator(system.worker, olga.userId, true);
  });
  after(async () => {
    inside.close();
    await system?.stop();
  });

  const connect = async (api: Api = anna as User): Promise<string> =>
    (await api.expect(201, "POST", "/connections", { body: { app: "database", fields: { key: "k" } } })).id;
  const open = (id: string, private_addresses: string[], api: Api = olga as User) =>
    api.request("PUT", `/connections/${id}/private_addresses`, { body: { private_addresses } });
  const deploy = (api: Api, id?: string): Promise<SourceView> =>
    api.createSource({
      component_code: CODE,
      configured_props: id === undefined ? {} : { database: { authProvisionId: id } },
    });
  /** What the source gets from the server inside. */
  async function reached(api: Api, source: SourceView, body: object = { port }): Promise<string> {
    const before = (await api.summaries(source.id)).length;
    const sent = {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    };
    await fetch(source.configured_props.http?.endpoint_url ?? "", sent);
    const [last] = await until(async () => {
      const found = await api.summaries(source.id);
      return found.length > before && found;
    });
    return last?.event.raw_event.got;
  }
  const BLOCKED = /^failed: .*not a public address/;

  it("are reached by code with this connection, by no other, and no longer once they are closed", async () => {
    const [api, stranger] = [anna as User, await system.user({ plan: "paid" })];
    const [opened, other, foreign] = [await connect(), await connect(), await connect(stranger)];
    expect((await open(opened, [`127.0.0.1:${port}`])).status).to.equal(200);
    const [source, another, without, theirs] = await Promise.all([
      deploy(api, opened),
      deploy(api, other),
      deploy(api),
      deploy(stranger, foreign),
    ]);
    expect(await reached(api, source)).to.equal("from inside");
    expect(await reached(api, another), "another connection").to.match(BLOCKED);
    expect(await reached(api, without), "no connection").to.match(BLOCKED);
    expect(await reached(stranger, theirs), "another account").to.match(BLOCKED);
    const elsewhere = await reached(api, source, { port, host: "127.0.0.2" });
    expect(elsewhere, "another address").to.match(BLOCKED);
    const { port: storePort } = new URL(system.web.config.mongodbUrl.replace(/^mongodb/, "http"));
    expect((await open(opened, [`127.0.0.1:${storePort}`])).status).to.equal(200);
    expect(await reached(api, source), "another list").to.match(BLOCKED);
    const store = await reached(api, source, { port: Number(storePort) });
    expect(store, "a store of Headwater's").to.match(BLOCKED);
    expect((await open(opened, [])).body.data.private_addresses).to.deep.equal([]);
    expect(await reached(api, source)).to.match(BLOCKED);
  });

  it("are reached by code on trial and by what its props ask, with this connection only", async () => {
    const [opened, other] = [await connect(), await connect()];
    await open(opened, [`127.0.0.1:${port}`]);
    const tryWith = async (id: string) => {
      const configured_props = { database: { authProvisionId: id } };
      const body = { component_code: CODE, configured_props, event: { body: { port } } };
      return (await (anna as User).expect(200, "POST", "/components/try", { body })).emits[0].event.got;
    };
    expect(await tryWith(opened)).to.equal("from inside");
    expect(await tryWith(other)).to.match(BLOCKED);
  });

  it("are opened by operators only, in the audit logs of the account and of the installation, and count as a change of the connection", async () => {
    const api = anna as User;
    const id = await connect();
    expect((await open(id, ["10.0.0.5:5432"], api)).status, "its own account").to.equal(403);
    expect((await api.request("GET", `/connections/${id}/private_addresses`)).status).to.equal(403);
    const body = { private_addresses: ["10.0.0.5:5432"] };
    expect((await api.request("PUT", `/connections/${id}`, { body })).status).to.equal(400);
    const opened = await open(id, ["10.0.0.5:5432", "[FD00:0::5]:80", "DB.internal:5432", "10.0.0.5:5432"]);
    const addresses = ["10.0.0.5:5432", "[fd00::5]:80", "db.internal:5432"];
    expect(opened.body.data).to.deep.equal({
      ...{ id, owner_id: api.userId, app: "database", name: "database", private_addresses: addresses },
    });
    const shown = await api.expect(200, "GET", `/connections/${id}`);
    expect(shown).to.deep.include({ private_addresses: addresses, revision: 2 });
    for (const log of [
      api.request("GET", "/users/me/audit_log"),
      (olga as User).request("GET", "/audit_log"),
    ]) {
      const { data } = (await log).body;
      expect(data[0]).to.deep.include({
        action: "connection.addresses_opened",
        fields: ["private_addresses"],
      });
      expect(data[0].actor.user_id).to.equal((olga as User).userId);
    }
    expect((await open("apn_absent", [])).status).to.equal(404);
  });

  it("are checked and bounded", async () => {
    const id = await connect();
    const wrong = [
      "10.0.0.5",
      "10.0.0.0/8:5432",
      "169.254.169.254:80",
      "localhost:5432",
      "0x7f.1:80",
      "db:0",
    ];
    const { status, body } = await open(id, wrong);
    expect(status).to.equal(400);
    expect(body.errors.map(({ path }: { path: string }) => path)).to.deep.equal(
      wrong.map((_, at) => `private_addresses[${at}]`),
    );
    const many = Array.from({ length: LIMITS.privateAddresses.value + 1 }, (_, n) => `10.0.0.${n}:5432`);
    expect((await open(id, many)).status).to.equal(400);
    expect((await open(id, many.slice(1))).status).to.equal(200);
  });
});

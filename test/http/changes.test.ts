import { expect } from "chai";
import { type Change, RequestChange } from "../../src/http/changes.ts";
import { type AnyRoute, data, empty, routeFor } from "../../src/http/route.ts";
import { CALLERS, type DemoServer, startDemo, ThingSchema } from "./demo-server.ts";

const ANN = CALLERS["key-ann"];
if (!ANN) throw new Error("no Ann");

describe("http/changes", () => {
  const changes: Change[] = [];
  let demo: DemoServer;
  before(async () => {
    demo = await startDemo({ recordChange: async change => void changes.push(change) });
  });
  after(() => demo.close());
  beforeEach(() => void changes.splice(0));

  it("are recorded of requests that succeed, with the names of what they set", async () => {
    const headers = { "user-agent": "tool/1" };
    const body = { props: { token: "hunter2" } };
    await demo.send({ method: "POST", path: "/v1/things?name=a&org_id=o_red&include=id", headers, body });
    expect(changes).to.deep.equal([
      {
        ...{ action: "thing.created", ownerId: "o_red", caller: ANN, thing: { id: "t_new", name: "a" } },
        ...{ fields: ["name", "props"], isDone: true, address: "127.0.0.1", userAgent: "tool/1" },
      },
    ]);
    await demo.send({ method: "PUT", path: "/v1/things/t_one", body: { size: 3, loud: false } });
    await demo.send({ method: "DELETE", path: "/v1/things/t_one" });
    expect(changes.slice(1).map(({ action, thing, fields }) => [action, thing, fields])).to.deep.equal([
      ["thing.updated", { id: "t_one", name: "one" }, ["size", "loud"]],
      ["thing.deleted", { id: "t_one", name: "one" }, []],
    ]);
  });

  it("are not recorded of reads, of rejected requests and of routes that change nothing", async () => {
    await demo.send({ path: "/v1/things/t_one" });
    await demo.send({ method: "DELETE", path: "/v1/things/t_bob" });
    await demo.send({ method: "PUT", path: "/v1/things/t_one", body: { size: "odd" } });
    await demo.send({ method: "DELETE", path: "/v1/things/t_one/$errors/events" });
    expect(changes).to.deep.equal([]);
  });

  it("are recorded before the response", async () => {
    let isRecorded = false;
    const slow = await startDemo({
      recordChange: async () => {
        await new Promise(resolve => setTimeout(resolve, 30));
        isRecorded = true;
      },
    });
    expect((await slow.send({ method: "DELETE", path: "/v1/things/t_one" })).status).to.equal(204);
    expect(isRecorded).to.equal(true);
    await slow.close();
  });

  describe("of a route", () => {
    const load = async () => null;
    const access = { kind: "resource", what: "thing", load, isRevised: true } as const;
    const common = { tag: "T", summary: "T", handler: async () => undefined as never } as const;
    const put = routeFor<object>()({
      ...common,
      ...{ method: "PUT", path: "/things/{id}", id: "put", audit: "thing.updated", access },
      response: data(200, ThingSchema),
    });
    const post = routeFor<object>()({
      ...common,
      ...{ method: "POST", path: "/sign_ins", id: "post", audit: "visit.started" },
      access: { kind: "public" },
      response: empty(),
    });
    const ctx = { status: 202, ips: [], ip: "::1", get: () => "" } as never;
    const handled = { input: { query: {}, body: {} }, resource: undefined, result: undefined };

    it("are of the account that owns the resource, unless the handler says otherwise", () => {
      const resource = { _id: "t_one", owner_id: "o_red", name: "one" };
      const change = new RequestChange(put as AnyRoute, "u_ann", ANN);
      expect(change.made(ctx, { ...handled, resource })).to.include({ ownerId: "o_red", isDone: false });
      change.note({ name: "two" });
      change.note({ ownerId: "o_blue" });
      expect(change.made(ctx, { ...handled, resource })).to.deep.include({
        ...{ ownerId: "o_blue", thing: { id: "t_one", name: "two" } },
      });
      change.note(null);
      expect(change.made(ctx, { ...handled, resource })).to.equal(null);
    });

    it("that is public are of whom the handler has found", () => {
      const change = new RequestChange(post as AnyRoute, "", undefined);
      expect(() => change.made(ctx, handled)).to.throw("post is public");
      change.note({ ownerId: "u_ann", caller: ANN });
      expect(change.made(ctx, handled)).to.deep.include({ ownerId: "u_ann", caller: ANN, thing: null });
    });
  });
});

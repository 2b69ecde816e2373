import { expect } from "chai";
import { type DemoServer, startDemo } from "./demo-server.ts";

describe("http/send-response", () => {
  let demo: DemoServer;
  before(async () => {
    demo = await startDemo({ checkResponses: true });
  });
  after(() => demo.close());

  const one = { id: "t_one", owner: "u_ann", name: "one", size: 1 };

  it("sends an object, a list and a page in their envelopes", async () => {
    expect((await demo.send({ path: "/v1/things/t_one" })).json).to.deep.equal({ data: one });
    const { data } = (await demo.send({ path: "/v1/orgs/o_red/things" })).json;
    expect(data).to.be.an("array").with.length(1);
    const paged = (await demo.send({ path: "/v1/users/me/things?limit=1" })).json;
    const cursor = Buffer.from("t_one").toString("base64url");
    expect(paged).to.deep.equal({
      page_info: { total_count: 3, count: 1, start_cursor: cursor, end_cursor: cursor },
      data: [one],
    });
  });

  it("pages by cursor until an empty page with null cursors", async () => {
    const ids: string[] = [];
    let query = "limit=2";
    for (;;) {
      const { page_info, data } = (await demo.send({ path: `/v1/users/me/things?${query}` })).json;
      ids.push(...data.map((thing: { id: string }) => thing.id));
      if (page_info.end_cursor === null) break;
      query = `limit=2&after=${page_info.end_cursor}`;
    }
    expect(ids).to.deep.equal(["t_one", "t_two", "t_red"]);
  });

  it("rejects invalid limits and cursors by name", async () => {
    const invalid = { limit: ["0", "101", "1.5", "x", ""], after: ["***", "", "a=", "_w"], before: ["a b"] };
    for (const [name, values] of Object.entries(invalid)) {
      for (const value of values) {
        const response = await demo.send({
          path: `/v1/users/me/things?${name}=${encodeURIComponent(value)}`,
        });
        expect([response.status, response.json.errors?.[0].path], `${name}=${value}`).to.deep.equal([
          400,
          name,
        ]);
      }
    }
    const both = await demo.send({ path: "/v1/users/me/things?after=dF9vbmU&before=dF9vbmU" });
    expect([both.status, both.json.errors[0].path]).to.deep.equal([400, "before"]);
    expect((await demo.send({ path: "/v1/things/t_one?limit=3" })).status).to.equal(400);
  });

  it("includes, then excludes fields of an object and of each object of a list", async () => {
    const get = async (path: string) => (await demo.send({ path })).json.data;
    expect(await get("/v1/things/t_one?include=id,name")).to.deep.equal({ id: "t_one", name: "one" });
    expect(await get("/v1/things/t_one?include=id,name&exclude=name")).to.deep.equal({ id: "t_one" });
    expect(await get("/v1/orgs/o_red/things?exclude=owner,name,size")).to.deep.equal([{ id: "t_red" }]);
    expect(await get("/v1/users/me/things?include=id&limit=1")).to.deep.equal([{ id: "t_one" }]);
    expect(await get("/v1/things/t_one?include=&exclude=")).to.deep.equal(one);
  });

  it("sends 204 and 202 without a body", async () => {
    const deleted = await demo.send({ method: "DELETE", path: "/v1/things/t_one?include=id" });
    expect([deleted.status, deleted.text, deleted.headers["content-type"]]).to.deep.equal([
      204,
      "",
      undefined,
    ]);
    const accepted = await demo.send({ method: "DELETE", path: "/v1/things/t_one/$errors/events" });
    expect([accepted.status, accepted.text, accepted.headers["content-type"]]).to.deep.equal([
      202,
      "",
      undefined,
    ]);
  });

  it("forbids caching of responses", async () => {
    expect((await demo.send({ path: "/v1/things/t_one" })).headers["cache-control"]).to.equal("no-store");
  });

  it("turns a response that does not match its schema into a 500 that the log explains", async () => {
    for (const [how, difference] of [
      ["type", "size must be an integer or null"],
      ["extra", "_id is not declared"],
    ]) {
      const response = await demo.send({ path: `/v1/drifted?how=${how}` });
      expect(response.status).to.equal(500);
      const line = demo.lines.find(
        entry => entry.request_id === response.headers["x-request-id"] && entry.msg === "request failed",
      ) as { err: { message: string } };
      expect(line.err.message).to.equal(`the response of drifted does not match its schema: ${difference}`);
    }
  });
});

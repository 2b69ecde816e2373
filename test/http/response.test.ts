import { expect } from "chai";
import { type DemoServer, startDemo } from "./demo-server.ts";

describe("http/send-response", () => {
  let demo: DemoServer;
  before(async () => {
    demo = await startDemo({ checkResponses: true });
  });
  after(() => demo.close());

  const one = { id: "t_one", owner: "u_ann", name: "one", size: 1 };

  it("puts an object, a list and a page in their envelopes", async () => {
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

  it("pages by cursor to an empty page with null cursors", async () => {
    const seen: string[] = [];
    let query = "limit=2";
    for (;;) {
      const { page_info, data } = (await demo.send({ path: `/v1/users/me/things?${query}` })).json;
      seen.push(...data.map((thing: { id: string }) => thing.id));
      if (page_info.end_cursor === null) break;
      query = `limit=2&after=${page_info.end_cursor}`;
    }
    expect(seen).to.deep.equal(["t_one", "t_two", "t_red"]);
  });

  it("refuses limits and cursors that are none, by name", async () => {
    const wrong = { limit: ["0", "101", "1.5", "x", ""], after: ["***", "", "a=", "_w"], before: ["a b"] };
    for (const [name, values] of Object.entries(wrong)) {
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

  it("includes, then excludes fields of objects and of each listed object", async () => {
    const get = async (path: string) => (await demo.send({ path })).json.data;
    expect(await get("/v1/things/t_one?include=id,name")).to.deep.equal({ id: "t_one", name: "one" });
    expect(await get("/v1/things/t_one?include=id,name&exclude=name")).to.deep.equal({ id: "t_one" });
    expect(await get("/v1/orgs/o_red/things?exclude=owner,name,size")).to.deep.equal([{ id: "t_red" }]);
    expect(await get("/v1/users/me/things?include=id&limit=1")).to.deep.equal([{ id: "t_one" }]);
    expect(await get("/v1/things/t_one?include=&exclude=")).to.deep.equal(one);
  });

  it("answers 204 and 202 without a body", async () => {
    const gone = await demo.send({ method: "DELETE", path: "/v1/things/t_one?include=id" });
    expect([gone.status, gone.text, gone.headers["content-type"]]).to.deep.equal([204, "", undefined]);
    const taken = await demo.send({ method: "DELETE", path: "/v1/things/t_one/$errors/events" });
    expect([taken.status, taken.text, taken.headers["content-type"]]).to.deep.equal([202, "", undefined]);
  });

  it("lets no cache keep an response", async () => {
    expect((await demo.send({ path: "/v1/things/t_one" })).headers["cache-control"]).to.equal("no-store");
  });

  it("turns an response that is not as declared into a 500 that the log explains", async () => {
    for (const [how, said] of [
      ["type", "size must be an integer or null"],
      ["extra", "_id is not declared"],
    ]) {
      const response = await demo.send({ path: `/v1/drifted?how=${how}` });
      expect(response.status).to.equal(500);
      const line = demo.lines.find(
        entry => entry.request_id === response.headers["x-request-id"] && entry.msg === "request failed",
      ) as { err: { message: string } };
      expect(line.err.message).to.equal(`drifted answers otherwise than declared: ${said}`);
    }
  });
});

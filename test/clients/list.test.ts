import { expect } from "chai";
import { Headwater } from "../../clients/typescript/src/index.ts";
import { type Received, type Receiver, type Reply, startReceiver } from "../support/receiver.ts";

const page = (ids: string[], end: string | null): Reply => ({
  status: 200,
  body: JSON.stringify({
    page_info: { total_count: 3, count: ids.length, start_cursor: ids[0] ?? null, end_cursor: end },
    data: ids.map(id => ({ id })),
  }),
});

/** Three rows on pages of two; the third page is empty. */
const byCursor = ({ path }: Received): Reply => {
  const after = new URL(path, "http://x").searchParams.get("after");
  if (after === null) return page(["a", "b"], "b");
  return after === "b" ? page(["c"], "c") : page([], null);
};

describe("a list of the client", () => {
  let server: Receiver;
  let client: Headwater;
  beforeEach(async () => {
    server = await startReceiver(byCursor);
    client = new Headwater({ url: new URL(server.url).origin, apiKey: "hw_1" });
  });
  afterEach(() => server.close());

  const paths = () => server.requests.map(({ path }) => path);

  it("requests nothing before it is used", () => {
    client.sources.list();
    expect(paths()).to.deep.equal([]);
  });

  it("is awaited for its first page", async () => {
    const { data, page_info } = await client.sources.list({ limit: 2 });
    expect(data.map(({ id }) => id)).to.deep.equal(["a", "b"]);
    expect(page_info.end_cursor).to.equal("b");
    expect(paths()).to.deep.equal(["/v1/users/me/sources?limit=2"]);
  });

  it("goes over the rows of all pages", async () => {
    const ids: string[] = [];
    for await (const { id } of client.deliveries.list({ state: "failed" })) ids.push(id);
    expect(ids).to.deep.equal(["a", "b", "c"]);
    expect(paths()).to.deep.equal([
      "/v1/deliveries?state=failed&limit=100",
      "/v1/deliveries?state=failed&limit=100&after=b",
      "/v1/deliveries?state=failed&limit=100&after=c",
    ]);
  });

  it("goes on behind an empty page that has a cursor", async () => {
    server.script(page([], "x"), page(["z"], null));
    const ids: string[] = [];
    for await (const { id } of client.deliveries.list({ text: "order" })) ids.push(id);
    expect(ids).to.deep.equal(["z"]);
  });

  it("is returned whole where the server has it without pages", async () => {
    server.script({ status: 200, body: '{"data":[{"id":"sub_1"}]}' });
    expect(await client.request("get", "/users/me/subscriptions", {})).to.deep.equal({
      data: [{ id: "sub_1" }],
    });
  });

  it("requests no further page once its loop is left", async () => {
    for await (const { id } of client.webhooks.list()) if (id === "b") break;
    expect(paths()).to.have.lengthOf(1);
  });

  it("is that of the organization, and has only the one page before a cursor", async () => {
    const other = new Headwater({ url: new URL(server.url).origin, orgId: "o_1" });
    const ids: string[] = [];
    for await (const { id } of other.workflows.list({ before: "x", limit: 2 })) ids.push(id);
    expect(ids).to.deep.equal(["a", "b"]);
    expect(paths()).to.deep.equal(["/v1/orgs/o_1/workflows?before=x&limit=2"]);
  });

  it("fails instead of turning in a circle", async () => {
    server.script(page(["a"], "a"));
    const rows = client.sources.list();
    const error = await (async () => {
      for await (const _ of rows);
    })().catch(reason => reason);
    expect(error.message).to.equal("the list does not advance");
    expect(paths()).to.have.lengthOf(2);
  });
});

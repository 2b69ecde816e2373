import { expect } from "chai";
import { type System, startSystem } from "../support/system.ts";
import { callTool, exchange, legacy, modern } from "./mcp.ts";

const CODE = `export default { name: "One", version: "0.0.1", props: { http: "$.interface.http" }, run() {} };`;

describe("mcp/resources", () => {
  let system: System;
  let api: Awaited<ReturnType<System["user"]>>;
  let sourceId: string;
  before(async () => {
    system = await startSystem({ RATE_LIMITS: "api:0" });
    api = await system.user();
    sourceId = (await api.createSource({ component_code: CODE, name: "one" })).id;
  });
  after(() => system.stop());

  const read = async (uri: string) => (await exchange(api, modern("resources/read", { uri }))).json;

  it("are the pages of the documentation, and the account's sources", async () => {
    const { resources } = (await exchange(api, modern("resources/list"))).json.result;
    const uris = resources.map(({ uri }: { uri: string }) => uri);
    expect(uris).to.include.members(["headwater://docs/filters", `headwater://sources/${sourceId}`]);
    expect(uris).not.to.include("headwater://docs/README");
    for (const { uri } of resources) expect((await read(uri)).result.contents[0].uri).to.equal(uri);
    const { resourceTemplates } = (await exchange(api, legacy("resources/templates/list"))).json.result;
    expect(resourceTemplates.map(({ uriTemplate }: { uriTemplate: string }) => uriTemplate)).to.have.length(
      2,
    );
  });

  it("are read as text", async () => {
    const [page] = (await read("headwater://docs/filters")).result.contents;
    expect(page.mimeType).to.equal("text/markdown");
    expect(page.text).to.match(/^# /);
    const [source] = (await read(`headwater://sources/${sourceId}`)).result.contents;
    expect(JSON.parse(source.text).data.id).to.equal(sourceId);
  });

  it("do not exist beyond those", async () => {
    const other = await system.user();
    const theirs = await other.createSource({ component_code: CODE, name: "theirs" });
    for (const uri of [
      `headwater://sources/${theirs.id}`,
      "headwater://sources/",
      "headwater://docs/nothing",
      "headwater://docs/../package.json",
      "headwater://docs/%2e%2e/package.json",
      "file:///etc/passwd",
      "x",
    ]) {
      expect((await read(uri)).error, uri).to.deep.include({ code: -32602, data: { uri } });
    }
    for (const params of [{}, { uri: 5 }, { cursor: "%" }]) {
      const method = "cursor" in params ? "resources/list" : "resources/read";
      expect((await exchange(api, modern(method, params))).json.error.code).to.equal(-32602);
    }
  });

  it("of the documentation are found by words, and read by section", async () => {
    const { structuredContent: found } = await callTool(api, "search_docs", {
      text: "retry schedule of a webhook",
    });
    expect(found.data.length).to.be.within(1, 8);
    const [{ page, heading }] = found.data;
    const { structuredContent: section } = await callTool(api, "read_doc", { page, heading });
    expect(section.data.text.length).to.be.greaterThan(20);
    const { structuredContent: long } = await callTool(api, "read_doc", { page: "rest-api" });
    expect(long.data.headings).to.include("Pagination");
    const { content, isError } = await callTool(api, "read_doc", { page: "../package" });
    expect([isError, content[0].text]).to.satisfy(
      ([is, text]: [boolean, string]) => is && text.includes("rest-api"),
    );
    expect((await callTool(api, "search_docs", { text: "qqqqzzzz" })).structuredContent.data).to.deep.equal(
      [],
    );
  });
});

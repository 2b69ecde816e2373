// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is how a file refers to the environment
import { expect } from "chai";
import { type Importing, importAccount } from "../../../src/cli/import/import.ts";
import { API_KEY, type ContractServer, type ShownAccount, startContractServer } from "./contract-server.ts";
import { type Folder, openFolder } from "./folder.ts";

const CODE = `export default { name: "Poll", version: "0.0.1", props: { timer: "$.interface.timer" }, run() {} };`;

const component = (id: string, more: Record<string, unknown> = {}) => ({
  id,
  code: CODE,
  code_hash: "c",
  name: "Poll",
  version: "0.0.1",
  configurable_props: [{ name: "timer", type: "$.interface.timer", default: { intervalSeconds: 900 } }],
  ...more,
});
const source = (id: string, component_id: string, more: Record<string, unknown> = {}) => ({
  id,
  user_id: "u_1",
  component_id,
  configured_props: { timer: { cron: null, interval_seconds: 60 } },
  active: true,
  name: id,
  name_slug: id,
  ...more,
});
const webhook = (id: string, more: Record<string, unknown> = {}) => ({
  id,
  name: null,
  description: null,
  url: "https://example.com/hook",
  active: true,
  ...more,
});
const subscription = (id: string, emitter_id: string, listener_id: string, event_name = "") => ({
  id,
  emitter_id,
  listener_id,
  event_name,
});

describe("headwater import, from a server that speaks the contract and no more", () => {
  let folder: Folder;
  let server: ContractServer;
  beforeEach(async () => {
    folder = await openFolder();
  });
  afterEach(async () => {
    await server.close();
    await folder.close();
  });

  const start = async (account: ShownAccount) => {
    server = await startContractServer(account);
  };
  const run = (more: Partial<Importing> = {}) =>
    importAccount({
      url: server.url,
      apiKey: API_KEY,
      folder: folder.path,
      project: "imported",
      force: false,
      ...more,
    });

  /** Returns the one line with which an import failed. */
  async function failure(more: Partial<Importing> = {}): Promise<string> {
    const error = await run(more).then(
      () => expect.fail("it was imported"),
      (thrown: Error) => thrown,
    );
    expect(error).to.have.property("name", "AppError");
    expect(error.message).not.to.match(/\n/);
    return error.message;
  }

  it("writes what is there, and says what is not", async () => {
    await start({
      components: [
        component("sc_1"),
        component("sc_2", {
          name: "Shop",
          code: CODE.replace("Poll", "Shop"),
          configurable_props: [
            { name: "http", type: "$.interface.http" },
            { name: "db", type: "$.service.db" },
            { name: "token", type: "string", secret: true },
            { name: "shop", type: "app", app: "shopify" },
            { name: "store", type: "data_store" },
            { name: "text", type: "string" },
          ],
        }),
      ],
      sources: [
        source("dc_1", "sc_1", { name: "Every minute", name_slug: "every-minute" }),
        source("dc_2", "sc_2", {
          name: "My Shop!",
          name_slug: null,
          active: false,
          configured_props: {
            http: { endpoint_url: "https://old.example.com/abc" },
            shop: { authProvisionId: "apn_1" },
            store: "ds_7",
            text: "costs $${5} and ${HOME}",
            gone: 1,
          },
        }),
        source("dc_3", "sc_missing"),
      ],
      webhooks: [
        webhook("wh_1", { description: "All" }),
        webhook("wh_2", { name: "Stopped", active: false }),
      ],
      subscriptions: [
        subscription("sub_1", "dc_1", "wh_1"),
        subscription("sub_2", "dc_2", "wh_2", "$errors"),
        subscription("sub_3", "p_abc123", "wh_1"),
        subscription("sub_4", "dc_1", "p_abc999"),
        subscription("sub_5", "dc_*", "wh_2"),
        subscription("sub_6", "dc_3", "wh_2"),
      ],
    });
    await run();
    expect(await folder.declared()).to.deep.equal({
      project: "imported",
      connections: { shopify: { app: "shopify" } },
      workflows: { "p-abc123": {} },
      sources: {
        "every-minute": { file: "./components/poll.mjs", props: { timer: { intervalSeconds: 60 } } },
        "my-shop": {
          file: "./components/shop.mjs",
          props: {
            token: "${MY_SHOP_TOKEN}",
            shop: { authProvisionId: "shopify" },
            text: "costs $$${5} and $${HOME}",
          },
          active: false,
        },
      },
      webhooks: {
        "example-com": { url: "https://example.com/hook", description: "All" },
        stopped: { url: "https://example.com/hook", active: false },
      },
      subscriptions: [
        { from: "every-minute", to: "example-com" },
        { from: "my-shop", to: "stopped", channel: "$errors" },
        { from: "p-abc123", to: "example-com" },
        { from: "dc_*", to: "stopped" },
      ],
    });
    expect(await folder.files()).to.deep.equal([
      "components/poll.mjs",
      "components/shop.mjs",
      "headwater.yaml",
      "import-report.txt",
    ]);
    const text = await folder.read("import-report.txt");
    for (const said of [
      "`MY_SHOP_TOKEN` is its `token`",
      "**shopify**: an account of shopify",
      "was https://old.example.com/abc",
      "**my-shop**: `db`",
      "`store`: a data_store of the other server, ds_7",
      "`gone`: its component has no such prop",
      "**dc_3**: `dc_3`: the server does not show sc_missing",
      "from `dc_1` to `p_abc999`",
      "from `dc_3` to `wh_2`",
      "was `p_abc123`",
    ]) {
      expect(text).to.include(said);
    }
  });

  it("reads all pages, waits when the server limits its rate, and imports a part of many", async () => {
    await start({
      webhooks: Array.from({ length: 2345 }, (_, at) => webhook(`wh_${at}`, { name: `hook ${at}` })),
    });
    let limited = 0;
    server.instead = path =>
      path.includes("after=1200") && ++limited < 3
        ? { status: 429, body: "{}", headers: { "retry-after": "0" } }
        : null;
    expect(await failure()).to.match(/^headwater\.yaml: webhooks: .*1000.*; --search imports a part of it$/);
    expect([limited, await folder.files()]).to.deep.equal([3, []]);
    const { declaration } = await run({ search: "HOOK 23" });
    expect(Object.keys(declaration.webhooks ?? {})).to.have.length(56);
  });

  it("reads 10,000 things of a kind, and not more", async () => {
    await start({ webhooks: Array.from({ length: 10_001 }, (_, at) => webhook(`wh_${at}`)) });
    expect(await failure()).to.include("/users/me/webhooks has more than 10000 rows");
  });

  it("takes no name of the other server for one of a file", async () => {
    const hostile = ["../../etc/passwd", "..", "C:\\con", "con", "x\u0000/../y", "\u001b[31mred", "é😀", ""];
    await start({
      components: hostile.map((name, at) =>
        component(`sc_../${at}`, { name, key: name, code: `${CODE}// ${at}` }),
      ),
      sources: hostile.map((name, at) => source(`dc_${at}`, `sc_../${at}`, { name, name_slug: name })),
      webhooks: hostile.map((name, at) => webhook(`wh_${at}`, { name })),
    });
    const { declaration } = await run();
    expect(Object.keys(declaration.sources ?? {})).to.have.length(hostile.length);
    expect(Object.keys(declaration.webhooks ?? {})).to.have.length(hostile.length);
    for (const path of await folder.files())
      expect(path).to.match(/^(components\/[a-z0-9-]+\.mjs|headwater\.yaml|import-report\.txt)$/);
  });

  it("keeps a name of the other server in its line of the report, in the order in which it is read", async () => {
    await start({ webhooks: [webhook("wh_1", { name: "a\u202etxt.b<b>\n# c", url: null })] });
    await run();
    expect(await folder.read("import-report.txt")).to.include(
      "- **wh_1**: the webhook `a txt.b b  # c` has no address that can be used\n",
    );
  });

  it("imports no code that reads files beside it, and none that is no code", async () => {
    await folder.save("private.json", '{"token": "of this machine"}');
    await start({
      components: [
        component("sc_1", { code: `import x from "../../private.json"; console.log(x); ${CODE}` }),
        component("sc_2", { code: "export default {" }),
        component("sc_3", {
          code: "const n: number = 1; export default { name: `${n}`, version: '1', run() {} };",
        }),
        component("sc_4", { code: null }),
      ],
      sources: [1, 2, 3, 4].map(at => source(`dc_${at}`, `sc_${at}`, { configured_props: {} })),
    });
    await run();
    expect((await folder.declared()).sources).to.deep.equal({ "dc-3": { file: "./components/poll-3.ts" } });
    expect(await folder.read("import-report.txt"))
      .to.match(/`dc_1`: it imports \S*private\.json, which the server does not show/)
      .and.to.match(/`dc_2`: .*line 1/)
      .and.to.include("`dc_4`: the server does not show the code of sc_4");
  });

  it("writes nothing if one of its files is there already", async () => {
    await start({ components: [component("sc_1")], sources: [source("dc_1", "sc_1")] });
    await folder.save("components/poll.mjs", "mine");
    expect(await failure()).to.include("components/poll.mjs: exists already; --force replaces such files");
    expect(await folder.files()).to.deep.equal(["components/poll.mjs"]);
    expect(await folder.read("components/poll.mjs")).to.equal("mine");
    await run({ force: true });
    expect(await folder.read("components/poll.mjs")).to.equal(CODE);
  });

  it("says what it has replaced, where one of its files can't be", async () => {
    await start({ components: [component("sc_1")], sources: [source("dc_1", "sc_1")] });
    await folder.save("headwater.yaml/mine", "a folder");
    expect(await failure({ force: true })).to.match(/^only components\/poll\.mjs was written: /);
    expect(await folder.read("components/poll.mjs")).to.equal(CODE);
  });

  it("says in one line what is wrong with an address, a key or a response, and writes nothing @long", async () => {
    await start({ webhooks: [webhook("wh_1")] });
    const at =
      (part: string, status: number, body: unknown): ContractServer["instead"] =>
      path =>
        path.includes(part) ? { status, body: typeof body === "string" ? body : JSON.stringify(body) } : null;
    let rows = 0;
    const cases: [instead: ContractServer["instead"], message: RegExp][] = [
      [at("", 200, "<html>"), /the response is not JSON/],
      [at("", 302, ""), /returned 302/],
      [at("", 200, { data: [] }), /\/users\/me: the response must have required property 'id'/],
      [at("subscriptions", 200, { data: [{}] }), /subscriptions: data\.0 must have required property 'id'/],
      [at("subscriptions", 404, {}), /returned 404/],
      [at("webhooks", 503, {}), /returned 503/],
      [
        path => at("sources", 200, { data: [{ id: `dc_${++rows}` }], page_info: { end_cursor: "x" } })(path),
        /sources\/: the list does not advance/,
      ],
    ];
    for (const [instead, message] of cases) {
      server.instead = path => {
        const other = instead(path);
        return other && { ...other, headers: { "retry-after": "0" } };
      };
      expect(await failure()).to.match(message);
    }
    server.instead = () => null;
    expect(await failure({ apiKey: "wrong" })).to.match(/returned 401/);
    expect(await failure({ url: "http://127.0.0.1:1/v1" })).to.match(
      /no response from http:\/\/127\.0\.0\.1:1\/v1/,
    );
    expect(await folder.files()).to.deep.equal([]);
  });
});

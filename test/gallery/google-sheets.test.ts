import { generateKeyPairSync, verify } from "node:crypto";
import { expect } from "chai";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { type Received, type Receiver, type Reply, startReceiver } from "../support/receiver.ts";
import { openSource } from "./open-shipped.ts";

type Cell = string | number | boolean;
interface Row {
  row: number;
  values: Record<string, unknown>;
}

const ID = "1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms";
const json = (status: number, body: unknown): Reply => ({ status, body: JSON.stringify(body) });

/** The token endpoint and `spreadsheets` of developers.google.com, for one spreadsheet that is shared with one account. */
describe("the gallery's source of Google Sheets", () => {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  let sandboxes: Sandboxes;
  let google: Receiver;
  let origin: string;
  let cells: Cell[][];
  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes?.close());
  beforeEach(async () => {
    cells = [
      ["Number", "Customer", ""],
      [1, "Ada"],
      [2, "Grace", "later"],
    ];
    google = await startReceiver();
    origin = new URL(google.url).origin;
    google.script(respond);
  });
  afterEach(() => google.close());

  function respond({ path, raw, headers }: Received): Reply {
    if (path === "/token") return tokenFor(raw);
    if (headers.authorization !== "Bearer ya29.1")
      return json(401, { error: { message: "Request had invalid authentication credentials." } });
    const { pathname, searchParams } = new URL(path, origin);
    const [, id, rest = ""] = /^\/v4\/spreadsheets\/([\w-]+)(.*)$/.exec(pathname) ?? [];
    if (id !== ID) return json(404, { error: { code: 404, message: "Requested entity was not found." } });
    if (rest === "") return json(200, { sheets: [{ properties: { title: "It's one" } }] });
    const range = decodeURIComponent(rest.replace("/values/", ""));
    if (range !== "A:ZZ" && range !== "'It''s one'!A:ZZ")
      return json(400, { error: { code: 400, message: `Unable to parse range: ${range}` } });
    expect(searchParams.get("valueRenderOption")).to.equal("UNFORMATTED_VALUE");
    return json(200, { range, majorDimension: "ROWS", ...(cells.length > 0 && { values: cells }) });
  }
  function tokenFor(raw: string): Reply {
    const form = new URLSearchParams(raw);
    const [head = "", claims = "", signature = ""] = (form.get("assertion") ?? "").split(".");
    const content = Buffer.from(`${head}.${claims}`);
    const isRight = verify("RSA-SHA256", content, publicKey, Buffer.from(signature, "base64url"));
    const { iss, aud, exp, iat } = JSON.parse(Buffer.from(claims, "base64url").toString());
    const isGranted =
      isRight && iss === "reader@project.iam.gserviceaccount.com" && aud === `${origin}/token`;
    if (
      !isGranted ||
      exp - iat > 3600 ||
      form.get("grant_type") !== "urn:ietf:params:oauth:grant-type:jwt-bearer"
    )
      return json(400, { error: "invalid_grant", error_description: "Invalid JWT Signature." });
    return json(200, { access_token: "ya29.1", expires_in: 3599, token_type: "Bearer" });
  }

  const account = (changes: object = {}) =>
    JSON.stringify({
      type: "service_account",
      client_email: "reader@project.iam.gserviceaccount.com",
      private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
      token_uri: `${origin}/token`,
      ...changes,
    });
  const open = (given: object = {}) =>
    openSource(sandboxes, "headwater-google-sheets-rows", {
      ...{ account: account(), spreadsheet: ID, api: origin, ...given },
    });
  const deployed = async (given: object = {}) => {
    const source = await open(given);
    expect((await source.call("deploy")).failed).to.equal(null);
    return source;
  };
  const rows = (events: unknown[]) => (events as Row[]).map(({ row }) => row);

  it("emits what is added since it was deployed, in the order of the sheet, each once", async () => {
    const source = await deployed();
    expect(await source.events()).to.deep.equal([]);
    cells.push([3, "Mary"], [], [4, "Grace", ""]);
    expect(await source.events()).to.deep.equal([
      { sheet: null, row: 4, values: { Number: 3, Customer: "Mary", C: null } },
      { sheet: null, row: 6, values: { Number: 4, Customer: "Grace", C: null } },
    ]);
    expect(await source.events()).to.deep.equal([]);
    cells.splice(1, 1);
    cells.splice(2, 0, [5, "Joan"]);
    expect(rows(await source.events()), "rows above were deleted and inserted").to.deep.equal([3]);
    cells[0] = ["Number", "Customer", "", "Paid"];
    expect(await source.events(), "a column was added").to.deep.equal([]);
    cells = [];
    expect(await source.events()).to.deep.equal([]);
  });

  it("tells rows of the same content apart, and knows a row again that comes back", async () => {
    const source = await deployed();
    cells.push([1, "Ada"], [1, "Ada"]);
    expect(rows(await source.events())).to.deep.equal([4, 5]);
    cells.pop();
    expect(await source.events()).to.deep.equal([]);
    cells.push([1, "Ada"]);
    expect(rows(await source.events())).to.deep.equal([5]);
  });

  it("knows rows by a key, once that is filled in, and by changes if it is told to", async () => {
    const [news, changes] = [
      await deployed({ id: "Number", summary: "{{Customer}}" }),
      await deployed({ id: "Number", emits: "changed" }),
    ];
    cells[2] = [2, "Grace Hopper"];
    expect(await news.events()).to.deep.equal([]);
    expect(rows(await changes.events())).to.deep.equal([3]);
    cells.push(["", "Mary"]);
    expect([await news.events(), await changes.events()]).to.deep.equal([[], []]);
    cells[3] = [3, "Mary"];
    const { emits } = await news.run();
    expect(emits[0]?.metadata).to.include({ summary: "Mary" });
    expect(rows(await changes.events())).to.deep.equal([4]);
    const wrong = await (await open({ id: "Nr" })).call("deploy");
    expect(wrong.failed).to.equal("Key: there is no column Nr, only Number, Customer, C");
  });

  it("begins with the newest rows that it is told to, without names if there are none", async () => {
    const source = await open({ header: 0, backfill: 2 });
    const { emits } = await source.call("deploy");
    expect(emits.map(({ event }) => (event as Row).values)).to.deep.equal([
      { A: 1, B: "Ada", C: null },
      { A: 2, B: "Grace", C: "later" },
    ]);
  });

  it("looks at the end of a long sheet, where rows that were deleted bring no old ones into view", async () => {
    const filled = (from: number, count: number): Cell[][] =>
      Array.from({ length: count }, (_, n) => [from + n, "x".repeat(20)]);
    cells = [["Number", "Text"], ...filled(1, 4000)];
    const source = await deployed();
    expect(JSON.stringify(source.db()).length).to.be.below(60_000);
    cells.push(...filled(4001, 2));
    expect(rows(await source.events())).to.deep.equal([4002, 4003]);
    cells.splice(10, 500);
    expect(await source.events()).to.deep.equal([]);
    cells.push(...filled(5000, 3001));
    const { emits, failed } = await source.run();
    expect([emits.length, failed]).to.deep.equal([
      ...[3000, "more than 3000 rows are new, and others were left out: look more often"],
    ]);
  });

  it("begins another sheet at its end, offers the sheets that there are, and goes on with another key", async () => {
    const source = await deployed({ spreadsheet: `https://docs.google.com/spreadsheets/d/${ID}/edit#gid=0` });
    expect(await source.choices("sheet")).to.deep.equal(["It's one"]);
    source.configure({ account: account(), spreadsheet: ID, api: origin, sheet: "It's one" });
    cells.push([3, "Mary"]);
    expect(await source.events()).to.deep.equal([]);
    source.configure({ account: account({ x: 1 }), spreadsheet: ID, api: origin, sheet: "It's one" });
    cells.push([4, "Joan"]);
    expect(await source.events()).to.deep.equal([
      { sheet: "It's one", row: 5, values: { Number: 4, Customer: "Joan", C: null } },
    ]);
  });

  it("tells who deploys it what is wrong, without the key, and waits as long as Google asks", async () => {
    const failure = async (given: object) => (await (await open(given)).call("deploy")).failed;
    expect(await failure({ account: "{" })).to.match(/^Service account key: must be the JSON file/);
    expect(await failure({ account: account({ token_uri: 1 }) })).to.equal(
      "Service account key: has no token_uri",
    );
    expect(await failure({ account: account({ client_email: "x" }) })).to.match(
      /\/token responded with status 400: Invalid JWT Signature\.$/,
    );
    expect(await failure({ spreadsheet: "a" })).to.match(/^Spreadsheet: must be/);
    expect(await failure({ spreadsheet: "a".repeat(20) })).to.match(/404: Requested entity was not found\.$/);
    expect(await failure({ sheet: "Two" })).to.match(/400: Unable to parse range: 'Two'!A:ZZ$/);
    const source = await deployed();
    cells.push([3, "Mary"]);
    google.script({ status: 429, headers: { "retry-after": "60" }, body: "{}" });
    expect((await source.run()).failed).to.match(/status 429/);
    google.script(respond);
    expect(await source.events()).to.deep.equal([]);
    Object.assign(source.db(), { wait_until_ms: 0 });
    expect(rows(await source.events())).to.deep.equal([4]);
  });
});

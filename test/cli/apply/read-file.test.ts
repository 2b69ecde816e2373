// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is how a file refers to the environment
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { readDeclaration } from "../../../src/cli/apply/read-file.ts";

describe("the file of headwater apply", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "headwater-file-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function read(text: string, variables: Record<string, string> = {}) {
    const file = join(folder, "headwater.yaml");
    await writeFile(file, text);
    return await readDeclaration(file, name => variables[name]);
  }
  const problem = (text: string, variables?: Record<string, string>) =>
    read(text, variables).then(
      () => expect.fail("it was read"),
      (error: Error) => error.message.replace(/^\S+headwater\.yaml: /, ""),
    );

  it("gets the environment's values in texts of any depth, and keeps what was written", async () => {
    const text = `
project: shop
sources:
  orders: { file: ./orders.mjs, props: { app: { $auth: { key: "\${KEY}" } }, price: "$\${KEY} \${KEY}/\${KEY}" } }
`;
    const { raw, resolved, redact } = await read(text, { KEY: "s3cret" });
    expect(resolved.sources?.orders?.props).to.deep.equal({
      app: { $auth: { key: "s3cret" } },
      price: "${KEY} s3cret/s3cret",
    });
    expect(JSON.stringify(raw)).not.to.include("s3cret");
    expect(redact("bad value s3cret at s3cret")).to.equal("bad value ${KEY} at ${KEY}");
  });

  it("names every field that is wrong", async () => {
    expect(await problem("project: Shop\nextra: 1"))
      .to.match(/extra: there is no such field/)
      .and.to.match(/project: must be at most 48 lower-case letters/);
    expect(await problem("sources: {}")).to.equal("project: is required");
    expect(await problem("project: a\nwebhooks: { inbox: { ordered: 1 } }")).to.match(
      /webhooks\.inbox\.url: is required; webhooks\.inbox\.ordered: must be boolean/,
    );
    expect(await problem("project: a\nsources: { A: { file: x } }")).to.include(
      "sources.A: names are lower-case",
    );
    expect(await problem("project: a\nsources: { a: { file: x, url: y }, b: {} }")).to.equal(
      "sources.a: needs exactly one of file, url, component; sources.b: needs exactly one of file, url, component",
    );
    expect(
      await problem(
        "project: a\nsubscriptions: [{ from: x, to: y }, { from: dc_1, to: wh_1 }, { from: dc_1, to: wh_1 }]",
      ),
    ).to.equal(
      "subscriptions.0.from: there is no source or workflow x; the account itself is $account; subscriptions.0.to: there is no webhook, destination, action, source or workflow y; subscriptions.2: is declared twice",
    );
  });

  it("names every field that is wrong in destinations and actions, also of their kind", async () => {
    expect(await problem("project: a\ndestinations: { x: {}, y: { s3: {}, rabbitmq: {} } }")).to.equal(
      "destinations.x: needs exactly one of redis_stream, rabbitmq, s3, pull; destinations.y: needs exactly one of redis_stream, rabbitmq, s3, pull",
    );
    expect(await problem("project: a\ndestinations: { x: { kafka: {} }, B: {} }"))
      .to.include("destinations.x.kafka: there is no such field")
      .and.to.include("destinations.B: names are lower-case");
    const settings = 'url: "${URL}", stream: s, max_length: 0, password: 1, other: 1';
    expect(await problem(`project: a\ndestinations: { x: { redis_stream: { ${settings} } } }`, { URL: "x" }))
      .to.include("destinations.x.redis_stream.max_length: must be >= 1")
      .and.to.include("destinations.x.redis_stream.password: must be string")
      .and.to.include("destinations.x.redis_stream.other: there is no such field");
    expect(await problem("project: a\nactions: { x: { props: {} } }")).to.equal(
      "actions.x: needs exactly one of file, url, component",
    );
  });

  it("takes a workflow without fields, as an emitter and as a listener", async () => {
    const text = "project: a\nworkflows: { shop:, bill: {} }\nsubscriptions: [{ from: shop, to: bill }]";
    expect(Object.keys((await read(text)).resolved.workflows ?? {})).to.deep.equal(["shop", "bill"]);
    expect(await problem("project: a\nworkflows: { shop: { name: x }, Bill:, c: 1 }")).to.equal(
      "workflows.Bill: names are lower-case letters, digits and dashes; workflows.shop.name: there is no such field; workflows.c: must be object,null",
    );
    expect(
      await problem(
        "project: a\nworkflows: { x: }\nsources: { x: { file: f } }\nsubscriptions: [{ from: x, to: p_1 }]",
      ),
    ).to.equal("subscriptions.0.from: x is a source and a workflow: name one otherwise");
  });

  it("says what a name means if it is several things, and where a function can't be", async () => {
    const both =
      "project: a\nwebhooks: { x: { url: u } }\nactions: { x: { file: f } }\nsources: { s: { file: f }, t: { file: g } }\n";
    expect(await problem(`${both}subscriptions: [{ from: s, to: x }]`)).to.equal(
      "subscriptions.0.to: x is a webhook and an action: name one otherwise",
    );
    expect(
      await problem(
        `${both}subscriptions: [{ from: s, to: t, function: f }, { from: s, to: p_1, function: f }]`,
      ),
    ).to.equal(
      "subscriptions.0.function: a source or a workflow receives events as they are; subscriptions.1.function: a source or a workflow receives events as they are",
    );
  });

  it("names the line of a syntax error, and each variable that is not there", async () => {
    expect(await problem("project: a\nwebhooks: [")).to.match(/^line \d+, column \d+: /);
    expect(await problem("project: a\nproject: b")).to.match(/^line 2, column 1: .*unique/);
    expect(await problem('project: a\nwebhooks: { i: { url: "${A}", headers: { x: "${B}" } } }')).to.equal(
      "webhooks.i.url: the environment has no A; webhooks.i.headers.x: the environment has no B",
    );
  });

  it("is bounded", async () => {
    const bomb = `a: &a [x,x]\n${[..."bcdefghij"].map((name, at) => `${name}: &${name} [${`*${"abcdefghij"[at]},`.repeat(9)}x]`).join("\n")}`;
    expect(await problem(bomb)).to.match(/alias/i);
    expect(await problem(`# ${"x".repeat(1024 * 1024)}`)).to.include("larger than 1 MB");
    expect(await problem("- just\n- a list")).to.equal("the file: must be object");
  });
});

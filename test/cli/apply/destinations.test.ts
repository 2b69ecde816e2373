// runs-long: npm test has test/cli/apply/read-file.test.ts and test/flows/one-account.test.ts
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is how a file refers to the environment
import { expect } from "chai";
import { type AccountRedis, openAccountRedis, PASSWORD } from "../../support/account-redis.ts";
import type { Api } from "../../support/api.ts";
import { type Bucket, KEYS, openBucket } from "../../support/bucket.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";
import { type Applier, openApplier } from "./apply-file.ts";

const SOURCE = `export default { name: "Orders", version: "1", props: { http: "$.interface.http" },
  run(event) { this.$emit(event.body); } };`;
const NOTE = (word: string) => `export default { name: "Note", version: "1", type: "action",
  props: { note: "string", token: { type: "string", secret: true }, kind: { type: "string", default: "plain" } },
  run({ $ }) { $.export("$summary", "${word} " + this.note); } };`;

describe("headwater apply with destinations, actions and functions", () => {
  let system: System;
  let redis: AccountRedis;
  let bucket: Bucket;
  let receiver: Receiver;
  let api: Api;
  let env: Record<string, string>;
  let applier: Applier;
  before(async () => {
    system = await startSystem();
    [redis, bucket, receiver] = await Promise.all([openAccountRedis(), openBucket(), startReceiver(200)]);
  });
  beforeEach(async () => {
    api = await system.user();
    env = {
      ...{ HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey, SECRET: PASSWORD },
      ...{ REDIS: `redis://:${PASSWORD}@127.0.0.1:${redis.port}/`, S3_SECRET: KEYS.secret_access_key },
      ...{ BUCKET: bucket.url, INBOX: receiver.url },
    };
    applier = await openApplier(() => env, PASSWORD);
    await Promise.all([
      applier.save("orders.mjs", SOURCE),
      applier.save("note.mjs", NOTE("first")),
      applier.save("shrink.ts", "export default (event: { n: number }) => ({ n: event.n });\n"),
    ]);
  });
  afterEach(() => applier.close());
  after(async () => {
    await receiver?.close();
    await bucket?.stop();
    await redis?.close();
    await system?.stop();
  });

  const FILE = `
project: shop
sources:
  orders: { file: ./orders.mjs }
webhooks:
  inbox: { url: "\${INBOX}" }
destinations:
  archive:
    redis_stream: { url: "\${REDIS}", stream: orders }
    description: All of them
    max_in_flight: 2
  bucket:
    s3: { url: "\${BUCKET}", region: ${KEYS.region}, access_key_id: ${KEYS.access_key_id}, secret_access_key: "\${S3_SECRET}" }
actions:
  note:
    file: ./note.mjs
    props: { note: "Order {{event.n}}", token: "\${SECRET}" }
    ordered: true
subscriptions:
  - { from: orders, to: inbox, function: ./shrink.ts }
  - { from: orders, to: archive }
  - { from: orders, to: bucket }
  - { from: orders, to: note, filter: { n: 1 } }
`;

  const destinations = async () =>
    (await api.request("GET", "/users/me/destinations", { query: { limit: 100 } })).body.data as {
      id: string;
      name: string;
      updated_at: number;
      [field: string]: unknown;
    }[];
  const named = async (name: string) => (await destinations()).find(one => one.name === name);
  const subscriptions = async () =>
    (await api.request("GET", "/users/me/subscriptions", { query: { limit: 100 } })).body.data;

  it("makes them, delivers to each, and changes nothing when it is applied again", async () => {
    const plan = await applier.apply(FILE, "--plan");
    expect(plan.stdout)
      .to.include("+ destination shop/archive\n    description: All of them\n")
      .and.to.include("    redis_stream.password: ${REDIS}\n")
      .and.to.include("    s3.secret_access_key: ${S3_SECRET}\n")
      .and.to.include("+ action shop/note\n    component: ./note.mjs\n")
      .and.to.include("    props.token: ${SECRET}\n")
      .and.to.include("    function: ./shrink.ts\n");
    expect(plan.stdout).to.match(/^9 to create, 0 to change, 0 to delete\.$/m);
    expect(plan.stdout).not.to.include(KEYS.secret_access_key);
    await applier.applied(FILE);
    const [made, subscribed] = [await destinations(), await subscriptions()];
    expect(made.map(({ name }) => name)).to.have.members(["shop/archive", "shop/bucket", "shop/note"]);
    expect(subscribed).to.have.length(4);

    expect(await applier.applied(FILE)).to.equal("Nothing to change.\n");
    const again = await applier.apply(FILE, "--plan", "--exit-code", "--prune");
    expect([again.code, again.stdout]).to.deep.equal([0, "Nothing to change.\n"]);
    expect([await destinations(), await subscriptions()]).to.deep.equal([made, subscribed]);

    const [source] = (await api.request("GET", "/users/me/sources")).body.data;
    await fetch(source.configured_props.http.endpoint_url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"n": 1, "more": true}',
    });
    await until(() => receiver.requests.length > 0 && bucket.puts > 0);
    expect(JSON.parse(receiver.requests[0]?.raw ?? "")).to.deep.equal({ n: 1 });
    await until(async () => (await redis.entries("orders")).length > 0);
    const action = await named("shop/note");
    await until(async () => {
      const { body } = await api.request("GET", `/destinations/${action?.id}/deliveries`);
      return body.data[0]?.last_attempt?.response === "first Order 1";
    });
  });

  it("makes one that is pulled from, and changes nothing when it is applied again", async () => {
    const file = "project: shop\ndestinations:\n  waiting: { pull: {}, ordered: true }\n";
    await applier.applied(file);
    expect(await named("shop/waiting")).to.include({ kind: "pull", ordered: true });
    expect(await applier.applied(file)).to.equal("Nothing to change.\n");
  });

  it("changes only what differs, and removes what is no longer declared", async () => {
    await applier.applied(FILE);
    const before = await destinations();
    await applier.save("note.mjs", NOTE("second"));
    await applier.save("shrink.ts", "export default () => null;\n");
    const changed = FILE.replace("stream: orders", "stream: others, max_length: 50")
      .replace("description: All of them", "ordered: true")
      .replace("Order {{event.n}}", "No. {{event.n}}")
      .replace(`secret_access_key:`, `key: "{id}", secret_access_key:`);
    const plan = await applier.planned(changed);
    expect(plan["shop/archive"]).to.deep.equal([
      { field: "description", from: "All of them", to: null },
      { field: "ordered", from: false, to: true },
      { field: "redis_stream.stream", from: "orders", to: "others" },
      { field: "redis_stream.max_length", from: 100_000, to: 50 },
    ]);
    expect(plan["shop/bucket"]?.map(({ field, to }) => [field, to])).to.deep.equal([["s3.key", "{id}"]]);
    expect(plan["shop/note"]).to.deep.equal([
      { field: "component", to: "./note.mjs" },
      { field: "props.note", from: "Order {{event.n}}", to: "No. {{event.n}}" },
    ]);
    expect(plan["shop/orders → shop/inbox"]).to.deep.equal([{ field: "function", to: "./shrink.ts" }]);
    expect(Object.keys(plan)).to.have.length(4);
    await applier.applied(changed);
    expect(await applier.applied(changed)).to.equal("Nothing to change.\n");
    expect((await destinations()).map(({ id }) => id)).to.have.members(before.map(({ id }) => id));

    // Back: what was added is gone, and the secrets are still there.
    const back = FILE.replace(", function: ./shrink.ts", "");
    const planBack = await applier.planned(back);
    expect(planBack["shop/archive"]?.at(-1)).to.deep.equal({
      ...{ field: "redis_stream.max_length", from: 50, to: 100_000 },
    });
    expect(planBack["shop/orders → shop/inbox"]).to.deep.equal([{ field: "function", to: null }]);
    await applier.applied(back);
    expect(await applier.applied(back)).to.equal("Nothing to change.\n");
    const archive = await named("shop/archive");
    expect(archive?.redis_stream).to.include({ stream: "orders", max_length: 100_000, has_password: true });
    expect((await api.expect(200, "POST", `/destinations/${archive?.id}/test`)).status).to.equal(200);
    expect((await subscriptions()).some((one: object) => "function_hash" in one)).to.equal(false);
  });

  it("sees that a secret differs or is no longer there, and sends all of them again if it is asked to", async () => {
    await applier.applied(FILE);
    env.S3_SECRET = "another";
    expect(await applier.planned(FILE)).to.deep.equal({
      "shop/bucket": [{ field: "s3.secret_access_key", to: "${S3_SECRET}" }],
    });
    await applier.applied(FILE);
    const note = FILE.replace('token: "${SECRET}"', "token: another");
    expect(Object.keys(await applier.planned(note))).to.deep.equal(["shop/note"]);
    expect(await applier.applied(FILE)).to.equal("Nothing to change.\n");
    const sent = await applier.applied(FILE, "--secrets");
    expect(sent)
      .to.include("    s3.secret_access_key: ${S3_SECRET}\n")
      .and.to.include("    redis_stream.password: ${REDIS}\n")
      .and.to.include("    props.token: ${SECRET}\n");
    const bare = FILE.replace("${REDIS}", `redis://127.0.0.1:${redis.port}`);
    expect((await applier.planned(bare))["shop/archive"]).to.deep.equal([
      { field: "redis_stream.password", to: null },
    ]);
    const literal = FILE.replace(
      'url: "${REDIS}"',
      `url: "redis://127.0.0.1:${redis.port}", password: literal`,
    );
    expect((await applier.planned(literal, "--secrets"))["shop/archive"]).to.deep.equal([
      { field: "redis_stream.password", to: "a secret" },
    ]);
  });

  it("deletes destinations and actions with --prune only", async () => {
    await applier.applied(FILE);
    await api.expect(201, "POST", "/destinations", {
      body: { name: "by hand", redis_stream: { url: `redis://127.0.0.1:${redis.port}`, stream: "x" } },
    });
    const less = FILE.slice(0, FILE.indexOf("destinations:")).trimEnd();
    const kept = await applier.apply(`${less}\n`);
    expect(kept.stderr).to.include("destination shop/archive").and.to.include("action shop/note");
    expect(await destinations()).to.have.length(4);
    await applier.applied(`${less}\n`, "--prune", "--yes");
    expect((await destinations()).map(({ name }) => name)).to.deep.equal(["by hand"]);
  });

  it("leaves what is disabled, and what has an id of its own, as it is", async () => {
    const { id } = await api.expect(201, "POST", "/destinations", {
      body: { name: "by hand", redis_stream: { url: `redis://127.0.0.1:${redis.port}`, stream: "x" } },
    });
    await applier.applied(FILE);
    const archive = await named("shop/archive");
    await api.expect(200, "PUT", `/destinations/${archive?.id}`, { body: { active: false } });
    expect(await applier.applied(FILE)).to.equal("Nothing to change.\n");
    expect(await applier.applied(`${FILE}  - { from: orders, to: ${id} }\n`)).to.match(/^1 to create/m);
    const off = FILE.replace("max_in_flight: 2", "max_in_flight: 2\n    active: true");
    expect((await applier.planned(off))["shop/archive"]).to.deep.equal([
      { field: "active", from: false, to: true },
    ]);
  });

  it("names the field that is wrong, before anything is made", async () => {
    const problem = async (from: string, to: string) => {
      const { code, stderr } = await applier.apply(FILE.replace(from, to));
      expect(code, stderr).to.equal(1);
      return stderr;
    };
    expect(await problem("stream: orders", "streem: orders"))
      .to.include("destinations.archive.redis_stream.stream: is required")
      .and.to.include("destinations.archive.redis_stream.streem: there is no such field");
    expect(await problem('"${REDIS}"', '"https://${SECRET}.example.com"')).to.include(
      "destinations.archive.redis_stream.url: must be redis://HOST",
    );
    expect(await problem("file: ./note.mjs", "url: ./note.mjs")).to.include("actions.note: ");
    expect(await problem("./shrink.ts", "./absent.ts")).to.match(/subscriptions\.0\.function: .*absent\.ts/);
    await applier.save("shrink.ts", "export default 7;");
    expect(await destinations()).to.deep.equal([]);
    expect((await applier.apply(FILE)).stderr).to.match(
      /create subscription shop\/orders → shop\/inbox: .*function: .*default export.*5 of 9 changes were made/,
    );
    const other = FILE.replace(
      'redis_stream: { url: "${REDIS}", stream: orders }',
      "rabbitmq: { url: amqp://x.example.com, queue: x }",
    );
    const conflict = await applier.apply(other);
    expect([conflict.code, conflict.stderr]).to.deep.equal([1, conflict.stderr]);
    expect(conflict.stderr).to.match(
      /destinations\.archive\.rabbitmq: ds_\w+ of that name is a redis_stream/,
    );
  });
});

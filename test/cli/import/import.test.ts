// runs-long: npm test has test/cli/import/contract.test.ts
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is how a file refers to the environment
import { join } from "node:path";
import { expect } from "chai";
import type { Api } from "../../support/api.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";
import { headwater, startHeadwater, withInput } from "../command.ts";
import { type Folder, openFolder } from "./folder.ts";

const SECRET = "s3cret-of-the-other-server";

const ORDERS = `import { shape } from "./lib/shape.mjs";
export default { name: "Orders", version: "1.0.0", key: "orders", props: {
  http: "$.interface.http", db: "$.service.db", shop: "string", token: { type: "string", secret: true },
  weather: { type: "app", app: "weather", optional: true } },
  run(event) { this.$emit(shape(event.body, this.shop, this.token)); } };`;
const SHAPE =
  "export const shape = (body, shop, token) => ({ n: body.n, shop, hasToken: token !== undefined });";
const BEAT = `export default { name: "Beat", version: "1.0.0", props: { timer: "$.interface.timer" }, run() {} };`;
const NOTE = `export default { type: "action", name: "Note", version: "1.0.0",
  props: { text: "string", token: { type: "string", secret: true } }, run() { return this.text; } };`;

describe("headwater import, from one Headwater to another", () => {
  let old: System;
  let here: System;
  let from: Api & { userId: string };
  let to: Api;
  let receiver: Receiver;
  let folder: Folder;
  let env: Record<string, string>;
  before(async () => {
    old = await startSystem({}, { workers: false });
    here = await startSystem();
    receiver = await startReceiver(200);
    [from, to] = [await old.user(), await here.user()];
    env = { HEADWATER_URL: here.baseUrl, HEADWATER_API_KEY: to.apiKey };
  });
  beforeEach(async () => {
    folder = await openFolder();
  });
  afterEach(() => folder.close());
  after(async () => {
    await receiver.close();
    await old.stop();
    await here.stop();
  });

  const apply = (more: Record<string, string>, ...args: string[]) =>
    headwater(["apply", "-f", join(folder.path, "headwater.yaml"), ...args], { ...env, ...more });

  it("brings up there what was here: an event goes through the source, the subscription and the webhook", async () => {
    const connection = await from.expect(201, "POST", "/connections", {
      body: { app: "weather", name: "Weather", fields: { api_key: SECRET } },
    });
    const orders = await from.createSource({
      files: { "orders.mjs": ORDERS, "lib/shape.mjs": SHAPE },
      entry: "orders.mjs",
      name: "shop orders",
      configured_props: { shop: "${north}", token: SECRET, weather: { authProvisionId: connection.id } },
    });
    const beat = await from.createSource({
      component_code: BEAT,
      name: "beat",
      configured_props: { timer: { cron: "0 3 * * *" } },
    });
    await from.expect(200, "PUT", `/sources/${beat.id}`, { body: { active: false } });
    const inbox = await from.expect(201, "POST", "/webhooks", {
      body: {
        url: receiver.url,
        name: "The inbox",
        description: "All orders",
        headers: { authorization: `Bearer ${SECRET}` },
        retry_schedule: ["5s", "1m"],
        format: "cloudevents",
        ordered: true,
      },
    });
    const workflow = await from.expect(201, "POST", "/workflows", { body: { name: "billing" } });
    await from.expect(200, "POST", "/subscriptions", {
      body: {
        emitter_id: orders.id,
        listener_id: inbox.id,
        filter: { shop: "${north}" },
        function: "export default event => ({ ...event, via: 'function' });",
      },
    });
    await from.subscribe(workflow.id, inbox.id);
    await from.subscribe(beat.id, inbox.id, "$errors");
    await from.subscribe(from.userId, inbox.id, "$alerts");
    await from.expect(201, "POST", "/destinations", {
      body: {
        name: "archive",
        redis_stream: { url: "redis://redis.example.com", stream: "orders", password: SECRET },
      },
    });
    const note = await from.expect(201, "POST", "/destinations", {
      body: {
        name: "note",
        action: { component_code: NOTE, configured_props: { text: "Order {{event.n}}", token: SECRET } },
      },
    });
    await from.subscribe(orders.id, note.id);

    const imported = await withInput(
      ["import", old.baseUrl, folder.path, "--project", "moved"],
      {},
      from.apiKey,
    );
    expect(imported.code, imported.stderr).to.equal(0);
    expect(imported.stdout + imported.stderr).not.to.include(from.apiKey);
    expect(await folder.declared()).to.deep.equal({
      project: "moved",
      connections: { weather: { app: "weather", fields: { api_key: "${WEATHER_API_KEY}" } } },
      workflows: { billing: {} },
      sources: {
        beat: { file: "./components/beat.mjs", props: { timer: { cron: "0 3 * * *" } }, active: false },
        "shop-orders": {
          file: "./components/orders/orders.mjs",
          props: {
            token: "${SHOP_ORDERS_TOKEN}",
            shop: "$${north}",
            weather: { authProvisionId: "weather" },
          },
        },
      },
      webhooks: {
        "the-inbox": {
          url: receiver.url,
          description: "All orders",
          ordered: true,
          retry_schedule: ["5s", "1m"],
          format: "cloudevents",
          headers: { authorization: "${THE_INBOX_AUTHORIZATION}" },
        },
      },
      destinations: {
        archive: {
          redis_stream: {
            url: "redis://redis.example.com",
            stream: "orders",
            max_length: 100_000,
            password: "${ARCHIVE_PASSWORD}",
          },
        },
      },
      actions: {
        note: {
          file: "./components/note.mjs",
          props: { token: "${NOTE_TOKEN}", text: "Order {{event.n}}" },
        },
      },
      subscriptions: [
        { from: "shop-orders", to: "note" },
        { from: "$account", to: "the-inbox", channel: "$alerts" },
        { from: "beat", to: "the-inbox", channel: "$errors" },
        { from: "billing", to: "the-inbox" },
        {
          from: "shop-orders",
          to: "the-inbox",
          filter: { shop: "$${north}" },
          function: (await folder.files())
            .filter(path => path.startsWith("functions/"))
            .map(path => `./${path}`)[0],
        },
      ],
    });
    for (const path of await folder.files()) expect(await folder.read(path), path).not.to.include(SECRET);
    const report = await folder.read("import-report.txt");
    expect(report).to.include("`ARCHIVE_PASSWORD` is its `password`").and.to.include("**shop-orders**: `db`");

    const early = await apply({});
    expect([early.code, early.stdout]).to.deep.equal([1, ""]);
    expect(early.stderr)
      .to.include("the environment has no WEATHER_API_KEY")
      .and.to.include("SHOP_ORDERS_TOKEN");
    const variables = {
      WEATHER_API_KEY: "k",
      SHOP_ORDERS_TOKEN: "t",
      THE_INBOX_AUTHORIZATION: "Bearer new",
      ARCHIVE_PASSWORD: "p",
      NOTE_TOKEN: "n",
    };
    const applied = await apply(variables);
    expect(applied.code, applied.stderr).to.equal(0);
    expect((await apply(variables, "--plan", "--exit-code")).stdout).to.equal("Nothing to change.\n");

    const sources = (await to.expect(200, "GET", "/users/me/sources")) as (typeof orders)[];
    expect(sources.map(({ name, active }) => [name, active])).to.have.deep.members([
      ["moved/shop-orders", true],
      ["moved/beat", false],
    ]);
    const moved = sources.find(({ active }) => active);
    await fetch(moved?.configured_props.http?.endpoint_url ?? "", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"n": 7}',
    });
    const [got] = await until(() => receiver.requests.length > 0 && receiver.requests);
    // The webhook's format came with it.
    expect(JSON.parse(got?.raw ?? "").data).to.deep.equal({
      n: 7,
      shop: "${north}",
      hasToken: true,
      via: "function",
    });
    expect(got?.headers.authorization).to.equal("Bearer new");
  });

  it("imports an organization's things", async () => {
    const owner = await old.user();
    const org = await old.organization(owner.userId);
    await owner.expect(201, "POST", "/webhooks", {
      query: { org_id: org, url: "https://example.com/1", name: "of the org" },
    });
    await owner.createWebhook("https://example.com/2", { name: "of the user" });
    const { code, stderr } = await headwater(["import", old.baseUrl, folder.path, "--org", org], {
      HEADWATER_IMPORT_KEY: owner.apiKey,
    });
    expect(code, stderr).to.equal(0);
    expect(Object.keys((await folder.declared()).webhooks)).to.deep.equal(["of-the-org"]);
  });

  it("asks for no key, and sends no request, if it could not write", async () => {
    await folder.save("headwater.yaml", "project: mine\n");
    const command = startHeadwater(["import", "http://127.0.0.1:1", folder.path]);
    const { code, stderr } = await command.ended;
    expect([code, stderr.includes("headwater.yaml: exists already")], stderr).to.deep.equal([1, true]);
    for (const [args, message] of [
      [["nowhere"], /url: nowhere is not an http or https URL/],
      [["http://127.0.0.1:1", "--project", "A b"], /--project: must be at most 48 lower-case/],
      [["http://127.0.0.1:1", "--key", "secret"], /unknown option '--key'/],
    ] as const) {
      const wrong = await headwater(["import", ...args]);
      expect([wrong.code, message.test(wrong.stderr)], wrong.stderr).to.deep.equal([2, true]);
    }
  });
});

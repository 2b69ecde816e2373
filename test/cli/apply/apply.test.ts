// runs-long: npm test has test/cli/apply/read-file.test.ts and test/flows/one-account.test.ts
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is how a file refers to the environment
import { expect } from "chai";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import type { Api } from "../../support/api.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";
import { startHeadwater } from "../command.ts";
import { type Applier, openApplier } from "./apply-file.ts";

const SECRET = "s3cret-of-the-environment";

const CODE = (word: string) => `export default { name: "Orders", version: "1",
  props: { http: "$.interface.http", token: { type: "string", secret: true }, shop: "string", note: { type: "string", optional: true } },
  run(event) { this.$emit({ word: "${word}", shop: this.shop, token: this.token, n: event.body.n }); } };`;

const TIMER = `export default { name: "Beat", version: "1",
  props: { timer: "$.interface.timer" }, run() {} };`;

describe("headwater apply", () => {
  let system: System;
  let receiver: Receiver;
  let api: Api & { userId: string };
  let env: Record<string, string>;
  let applier: Applier;
  before(async () => {
    system = await startSystem();
    receiver = await startReceiver(200);
  });
  beforeEach(async () => {
    api = await system.user();
    env = {
      HEADWATER_URL: system.baseUrl,
      HEADWATER_API_KEY: api.apiKey,
      ORDERS_TOKEN: SECRET,
      INBOX_URL: `${receiver.url}?key=${SECRET}`,
    };
    applier = await openApplier(() => env, SECRET);
    await applier.save("orders.mjs", CODE("first"));
    await applier.save("beat.mjs", TIMER);
  });
  afterEach(() => applier.close());
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  const FILE = `
project: shop
sources:
  orders:
    file: ./orders.mjs
    props: { token: "\${ORDERS_TOKEN}", shop: north, note: hi }
  beat:
    file: ./beat.mjs
    props: { timer: { cron: "0 3 * * *" } }
webhooks:
  inbox:
    url: \${INBOX_URL}
    description: All orders
    headers: { authorization: "Bearer \${ORDERS_TOKEN}" }
    rate_limit_per_second: 20
subscriptions:
  - { from: orders, to: inbox, filter: { shop: north } }
  - { from: beat, to: inbox, channel: $errors }
`;

  const apply: Applier["apply"] = (...given) => applier.apply(...given);
  const applied: Applier["applied"] = (...given) => applier.applied(...given);
  const list = async (kind: string) =>
    (await api.request("GET", `/users/me/${kind}`, { query: { limit: 100 } })).body.data as {
      id: string;
      name: string;
      [field: string]: unknown;
    }[];

  it("shows a plan, makes what the file declares, and changes nothing when it is applied again", async () => {
    const plan = await apply(FILE, "--plan", "--exit-code");
    expect(plan.code, plan.stderr).to.equal(3);
    expect(plan.stdout)
      .to.include("+ source shop/orders\n")
      .and.to.include("    props.token: ${ORDERS_TOKEN}\n");
    expect(plan.stdout).to.include("+ webhook shop/inbox\n    url: ${INBOX_URL}\n");
    expect(plan.stdout).to.match(/^5 to create, 0 to change, 0 to delete\.$/m);
    expect(await list("sources")).to.deep.equal([]);

    const made = await apply(FILE, "--show-keys");
    expect(made.code, made.stderr).to.equal(0);
    expect(made.stderr).to.match(/^Signing key of shop\/inbox: whsec_/m);
    const [sources, webhooks, subscriptions] = await Promise.all(
      ["sources", "webhooks", "subscriptions"].map(list),
    );
    expect(sources?.map(({ name }) => name)).to.have.members(["shop/orders", "shop/beat"]);
    expect(webhooks?.[0]).to.deep.include({
      name: "shop/inbox",
      description: "All orders",
      url: env.INBOX_URL,
      rate_limit_per_second: 20,
      header_names: ["authorization"],
    });
    expect(subscriptions).to.have.length(2);

    const again = await apply(FILE, "--plan", "--exit-code");
    expect({ code: again.code, stdout: again.stdout }).to.deep.equal({
      code: 0,
      stdout: "Nothing to change.\n",
    });
    expect(await applied(FILE)).to.equal("Nothing to change.\n");
    const [then, now] = [sources, await list("sources")];
    expect(now).to.deep.equal(then);
    expect(await list("webhooks")).to.deep.equal(webhooks);

    // It works: an event goes through the source with its secret, and to the webhook with its header.
    const orders = sources?.find(({ name }) => name === "shop/orders");
    const { http } = (orders?.configured_props ?? {}) as { http?: { endpoint_url: string } };
    await fetch(http?.endpoint_url ?? "", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"n": 1}',
    });
    const [got] = await until(() => receiver.requests.length > 0 && receiver.requests);
    expect(JSON.parse(got?.raw ?? "")).to.deep.equal({ word: "first", shop: "north", token: SECRET, n: 1 });
    expect(got?.headers.authorization).to.equal(`Bearer ${SECRET}`);
  });

  it("changes only what differs, by its fields", async () => {
    await applied(FILE);
    const before = await list("sources");
    await applier.save("orders.mjs", CODE("second"));
    const changed = FILE.replace("shop: north, note: hi", "shop: south")
      .replace("0 3 * * *", "30 4 * * *")
      .replace("rate_limit_per_second: 20", "ordered: true\n    format: cloudevents")
      .replace("filter: { shop: north }", "filter: { shop: south }");
    const plan = await applier.planned(changed);
    const fieldsOf = (name: string) => plan[name];
    expect(Object.keys(plan)).to.have.length(4);
    expect(await applied(changed, "--plan")).to.match(/^0 to create, 4 to change/m);
    expect(fieldsOf("shop/inbox")).to.deep.equal([
      { field: "rate_limit_per_second", from: 20, to: null },
      { field: "ordered", from: false, to: true },
      { field: "format", from: "json", to: "cloudevents" },
    ]);
    expect(fieldsOf("shop/orders")).to.deep.equal([
      { field: "component", to: "./orders.mjs" },
      { field: "props.shop", from: "north", to: "south" },
      { field: "props.note", to: null },
    ]);
    expect(fieldsOf("shop/beat")?.map(({ field }) => field)).to.deep.equal(["props.timer"]);
    expect(fieldsOf("shop/orders → shop/inbox")).to.deep.equal([
      { field: "filter", from: { shop: "north" }, to: { shop: "south" } },
    ]);
    await applied(changed);
    expect(await applied(changed)).to.equal("Nothing to change.\n");
    const after = await list("sources");
    expect(after.map(({ id }) => id)).to.have.members(before.map(({ id }) => id));
    const { configured_props } = await api.expect(
      200,
      "GET",
      `/sources/${after.find(({ name }) => name === "shop/orders")?.id}`,
    );
    expect(configured_props).to.include({ shop: "south" }).and.not.to.have.property("note");
  });

  it("subscribes to the alerts of the account that the file is applied to, a user's or an organization's", async () => {
    const file = `
project: watch
webhooks:
  inbox: { url: "\${INBOX_URL}" }
subscriptions:
  - { from: $account, to: inbox, channel: $alerts, filter: { type: webhook.failing } }
`;
    const orgId = await system.organization(api.userId);
    for (const [account, args] of [
      [api.userId, []],
      [orgId, ["--org", orgId]],
    ] as const) {
      expect(await applied(file, ...args)).to.include("+ subscription $account → watch/inbox [$alerts]\n");
      expect(await applied(file, ...args)).to.equal("Nothing to change.\n");
      const lists = account === orgId ? `/orgs/${orgId}` : "/users/me";
      const query = { emitter_id: account };
      const found = await api.expect(200, "GET", `${lists}/subscriptions`, { query });
      expect(found).to.have.length(1);
      expect(found[0]).to.deep.include({ event_name: "$alerts", filter: { type: "webhook.failing" } });
    }
  });

  it("sees that a secret differs, which no response shows, and sends all of them again if it is asked to", async () => {
    await applied(FILE);
    const before = await list("webhooks");
    env.ORDERS_TOKEN = `${SECRET}-2`;
    const plan = await apply(FILE, "--plan", "--exit-code");
    expect([plan.code, plan.stderr]).to.deep.equal([3, ""]);
    expect(plan.stdout)
      .to.include("    props.token: ${ORDERS_TOKEN}\n")
      .and.to.include("    headers: authorization\n");
    expect(plan.stdout).to.match(/^0 to create, 2 to change/m);
    expect(await list("webhooks")).to.deep.equal(before);
    expect(await applied(FILE)).to.equal(plan.stdout);
    expect(await applied(FILE)).to.equal("Nothing to change.\n");
    const sent = await applied(FILE, "--secrets");
    expect(sent).to.match(/^0 to create, 2 to change/m);
  });

  it("says how secrets are sent that can't be compared any more", async () => {
    await applied(FILE);
    env.ORDERS_TOKEN = `${SECRET}-2`;
    const [inbox] = await list("webhooks");
    const guess = { id: inbox?.id, secrets: { headers: { authorization: "guess" } } };
    for (let n = 0; n < LIMITS.secretGuesses.value; n++)
      await api.expect(200, "POST", "/secrets/compare", { body: guess });
    const { code, stderr } = await apply(FILE);
    expect([code, stderr]).to.deep.equal([1, stderr]);
    expect(stderr).to.match(/wh_\w+: too many wrong secrets for this id; --secrets sends them/);
    expect(await applied(FILE, "--secrets")).to.match(/^0 to create, 2 to change/m);
  });

  it("deletes only with --prune, and only what it made", async () => {
    await applied(FILE);
    const own = await api.createWebhook(receiver.url, { name: "by hand" });
    const orders = (await list("sources")).find(({ name }) => name === "shop/orders");
    await api.subscribe(orders?.id ?? "", own.id);
    const less = `
project: shop
sources:
  orders:
    file: ./orders.mjs
    props: { token: "\${ORDERS_TOKEN}", shop: north, note: hi }
webhooks:
  inbox: { url: "\${INBOX_URL}", description: All orders, headers: { authorization: "Bearer \${ORDERS_TOKEN}" }, rate_limit_per_second: 20 }
`;
    const kept = await apply(less);
    expect(kept.stdout).to.equal("Nothing to change.\n");
    expect(kept.stderr).to.match(
      /kept without --prune: subscription shop\/orders → shop\/inbox, source shop\/beat/,
    );
    expect(await list("sources")).to.have.length(2);
    const unasked = await apply(less, "--prune");
    expect([unasked.code, unasked.stderr]).to.deep.equal([2, unasked.stderr]);
    expect(unasked.stderr).to.match(/--yes: is needed without a terminal, to delete .*source shop\/beat/);
    expect(await list("sources")).to.have.length(2);
    const pruned = await applied(less, "--prune", "--yes");
    expect(pruned)
      .to.match(/^- source shop\/beat$/m)
      .and.to.match(/2 to delete/);
    expect((await list("sources")).map(({ name }) => name)).to.deep.equal(["shop/orders"]);
    expect((await list("webhooks")).map(({ name }) => name)).to.have.members(["shop/inbox", "by hand"]);
    expect((await list("subscriptions")).map(({ listener_id }) => listener_id)).to.deep.equal([own.id]);
    expect(await applied(less, "--prune", "--yes")).to.equal("Nothing to change.\n");
  });

  it("reads the file from the standard input", async () => {
    const command = startHeadwater(["apply", "-f", "-", "--plan"], env);
    command.type("project: piped\nworkflows: { orders: }\n");
    command.endInput();
    const { code, stdout, stderr } = await command.ended;
    expect(code, stderr).to.equal(0);
    expect(stdout).to.match(/^\+ workflow piped\/orders$/m);
  });

  it("says which subscriptions of a thing go on that was renamed in the file", async () => {
    await applied(FILE);
    const renamed = await apply(
      FILE.replace("  inbox:", "  letters:").replaceAll("to: inbox", "to: letters"),
    );
    expect(renamed.code, renamed.stderr).to.equal(0);
    expect(renamed.stderr).to.match(
      /kept without --prune: webhook shop\/inbox, subscription shop\/(orders|beat) → shop\/inbox, subscription shop\/(orders|beat) → shop\/inbox/,
    );
  });

  it("sees in a plan which props a component does not know or lacks, and code that can't be saved", async () => {
    const wrong = FILE.replace("shop: north, note: hi", "colour: red");
    for (const text of [wrong, `${wrong.replace("file: ./orders.mjs", "component: orders-of-shop")}`]) {
      if (text !== wrong)
        await api.expect(201, "POST", "/components", {
          body: {
            component_code: CODE("first").replace('version: "1"', 'version: "1", key: "orders-of-shop"'),
          },
        });
      const { code, stderr, stdout } = await apply(text, "--plan");
      expect([code, stdout]).to.deep.equal([1, ""]);
      expect(stderr).to.match(
        /sources\.orders\.props\.colour: the component has no such prop; sources\.orders\.props\.shop: is required\n$/,
      );
    }
    await applied(FILE);
    const later = await apply(FILE.replace("shop: north, note: hi", "note: ho"), "--plan");
    expect(later.stderr).to.match(/sources\.orders\.props\.shop: is required\n$/);
    await applier.save("orders.mjs", "export default { run( };");
    const broken = await apply(FILE, "--plan");
    expect(broken.stderr).to.match(/sources\.orders: /);
  });

  it("goes on after an error, and names what failed without a value of the environment", async () => {
    const wrong = FILE.replace("shop: north", "shop: 5");
    const { code, stderr } = await apply(wrong);
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /create source shop\/orders: .*returned 400: .*configured_props\.shop.*1 of 5 changes were made/,
    );
    expect(await applied(FILE)).to.match(/^4 to create, 0 to change/m);
    env.INBOX_URL = `ftp://${SECRET}.example.com`;
    const bad = await apply(FILE);
    expect(bad.stderr).to.match(/update webhook shop\/inbox: .*url/);
  });

  it("uses a component by its address or its key, and says which source names none", async () => {
    const server = await startReceiver(() => ({
      status: 200,
      headers: { "content-type": "text/javascript" },
      body: TIMER,
    }));
    const origin = new URL(server.url).origin;
    await api.expect(201, "POST", "/components", {
      body: { component_code: 'export default { name: "Keyed", version: "1", key: "keyed-one", run() {} };' },
    });
    const text = `
project: there
sources:
  far: { url: ${origin}/beat.mjs }
  keyed: { component: keyed-one, active: false }
`;
    await applied(text);
    expect(await applied(text)).to.equal("Nothing to change.\n");
    expect((await list("sources")).find(({ name }) => name === "there/keyed")?.active).to.equal(false);
    await server.close();
    const absent = await apply("project: there\nsources: { lost: { component: absent-key } }");
    expect(absent.stderr).to.match(/sources\.lost: .*component not found/);
    const noFile = await apply("project: there\nsources: { lost: { file: ./absent.mjs } }");
    expect(noFile.stderr).to.match(/sources\.lost: .*absent\.mjs/);
  });
});

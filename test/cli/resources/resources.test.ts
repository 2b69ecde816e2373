// runs-long: npm test has test/cli/walk.test.ts

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { raiseAlert } from "../../../src/alerts/raise.ts";
import type { Api } from "../../support/api.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";
import { commandsWith, headwater, startHeadwater } from "../command.ts";

const CODE = `export default { name: "Hook", version: "1", props: { http: "$.interface.http" },
  run(event) {
    console.log("got\\u001b[2J it");
    if (event.body.fail) throw new Error("it failed");
    this.$emit(event.body, { summary: event.body.summary });
  } };`;

describe("headwater with a server", () => {
  let system: System;
  let receiver: Receiver;
  let api: Api;
  let env: Record<string, string>;
  let source: { id: string; url: string };
  before(async () => {
    system = await startSystem();
    receiver = await startReceiver(200);
    api = await system.user();
    env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey };
    const created = await api.createSource({ component_code: CODE, name: "orders" });
    source = { id: created.id, url: created.configured_props.http?.endpoint_url ?? "" };
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  const { printed, json, failure } = commandsWith(() => env);
  const send = (body: object) =>
    fetch(source.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });

  it("lists sources for people and for programs, and shows one by its name", async () => {
    expect(await printed("source", "list", "--ids")).to.match(
      new RegExp(`^NAME +ID +ACTIVE +TRIGGER +UPDATED\norders +${source.id} +yes +http\\S+ +20\\S+Z\n$`),
    );
    expect(await printed("source", "list")).to.match(
      /^NAME +ACTIVE +TRIGGER +UPDATED\norders +yes +http\S+ +20\S+Z\n$/,
    );
    expect((await json("source", "list"))[0]).to.include({ id: source.id, name_slug: "orders" });
    expect(await printed("source", "show", "orders")).to.match(new RegExp(`^id +${source.id}$`, "m"));
    expect(await failure("source", "show", "absent")).to.include("source not found");
  });

  it("lists alerts, and changes when they are mailed", async () => {
    const { id } = await api.expect(200, "GET", "/users/me");
    expect(await json("alert", "list")).to.deep.equal([]);
    await raiseAlert(system.worker, {
      ...{ ownerId: id, type: "quota.80", subject: null, sinceMs: Date.now(), message: "nearly used up" },
    });
    await until(async () => (await json("alert", "list")).length === 1);
    expect(await printed("alert", "list")).to.match(/^20\S+Z +quota\.80 +nearly used up$/m);
    expect(await printed("alert", "mail")).to.match(/^mail +digest$/m);
    expect(await json("alert", "mail", "off")).to.include({ mail: "off", is_mail_sent: false });
    expect(await printed("alert", "mail")).to.match(/^mail +off$/m);
    expect((await headwater(["alert", "mail", "daily"], env)).code).to.equal(2);
  });

  it("deletes nothing without a terminal that could be asked, unless --yes says so", async () => {
    const extra = await api.createSource({ component_code: CODE, name: "kept" });
    for (const [args, what] of [
      [["source", "delete", "kept"], `source kept \\(${extra.id}\\)`],
      [["subscription", "delete", "sub_x"], "subscription sub_x"],
      [["component", "delete", "sc_x"], "component sc_x"],
      [["connection", "delete", "apn_x"], "connection apn_x"],
    ] as const) {
      const { code, stdout, stderr } = await headwater([...args], env);
      expect([code, stdout], stderr).to.deep.equal([2, ""]);
      expect(stderr).to.match(
        new RegExp(`^headwater: --yes: is needed without a terminal, to delete ${what}\n$`),
      );
    }
    expect((await json("source", "show", "kept")).id).to.equal(extra.id);
    await printed("source", "delete", "kept", "-y");
  });

  it("replaces the endpoint of a source, whose old address ends", async () => {
    const moved = await api.createSource({ component_code: CODE, name: "moved" });
    const before = moved.configured_props.http?.endpoint_url ?? "";
    const after = (await printed("source", "rotate-endpoint", "moved")).trimEnd();
    expect(new URL(after).origin).to.equal(new URL(before).origin);
    expect(after).not.to.equal(before);
    const post = async (url: string) => (await fetch(url, { method: "POST", body: "{}" })).status;
    await until(async () => (await post(before)) === 404);
    expect(await post(after)).to.equal(200);
    expect(
      (await json("source", "rotate-endpoint", moved.id)).configured_props.http.endpoint_url,
    ).not.to.equal(after);
    const both = await api.createSource({
      component_code: `export default { name: "Both", version: "1", props: {
        timer: { type: "$.interface.timer", default: { intervalSeconds: 3600 } }, http: "$.interface.http" }, run() {} };`,
    });
    expect((await printed("source", "rotate-endpoint", both.id)).trimEnd()).to.match(/^http:.*\/in\/\w{32}$/);
    const silent = await api.createSource({
      component_code: 'export default { name: "Silent", version: "1", run() {} };',
    });
    expect(await failure("source", "rotate-endpoint", silent.id)).to.include("endpoint");
    for (const { id } of [moved, both, silent]) await printed("source", "delete", id, "--yes");
  });

  it("sends a source a request that is signed as a provider signs", async () => {
    const verify = { preset: "github", secrets: ["s3cr3t"] };
    const verifying = await api.createSource({ component_code: CODE, name: "verifying", verify });
    const folder = await mkdtemp(join(tmpdir(), "headwater-send-"));
    const secretFile = async (secret: string) => {
      await writeFile(join(folder, "secret"), secret);
      return join(folder, "secret");
    };
    try {
      const right = await json(
        "source",
        "send",
        "verifying",
        "--signed",
        "github",
        "--secret",
        await secretFile("s3cr3t\n"),
      );
      expect(right.status).to.equal(200);
      const other = await secretFile("other");
      const wrong = await headwater(
        ["source", "send", verifying.id, "--signed", "github", "--secret", other],
        env,
      );
      expect([wrong.code, wrong.stdout.slice(0, 4)], wrong.stderr).to.deep.equal([1, "401 "]);
      const misspelt = await headwater(["source", "send", "verifying", "--signed", "githup"], env);
      expect(misspelt.code).to.equal(2);
      expect(misspelt.stderr).to.match(/--signed.* must be one of standard-webhooks, /);
    } finally {
      await rm(folder, { recursive: true });
      await printed("source", "delete", "verifying", "--yes");
    }
  });

  it("disables, enables and deletes a source", async () => {
    const extra = await api.createSource({ component_code: CODE, name: "extra" });
    await printed("source", "disable", "extra");
    expect((await json("source", "show", extra.id)).active).to.equal(false);
    await printed("source", "enable", "extra");
    expect((await json("source", "show", extra.id)).active).to.equal(true);
    await printed("source", "delete", "extra", "--yes");
    expect((await api.request("GET", `/sources/${extra.id}`)).status).to.equal(404);
  });

  it("follows events and logs, without a control character of theirs, until it is stopped", async () => {
    const events = startHeadwater(["source", "events", "orders", "-f", "--json"], env);
    const logs = startHeadwater(["source", "logs", "orders", "-f"], env);
    await send({ n: 1, summary: "first" });
    await until(() => events.stdout().includes('"n":1') && logs.stdout().includes("got"));
    await send({ n: 2 });
    await send({ fail: true });
    await until(() => events.stdout().includes('"n":2') && logs.stdout().includes("it failed"));
    for (const command of [events, logs]) command.kill("SIGINT");
    const [shown, logged] = await Promise.all([events.ended, logs.ended]);
    expect([shown.code, logged.code], shown.stderr + logged.stderr).to.deep.equal([0, 0]);
    const rows = shown.stdout
      .trim()
      .split("\n")
      .map(line => JSON.parse(line).event.raw_event.n);
    expect(rows).to.deep.equal([1, 2]);
    expect(logged.stdout).to.include(" got it\n").and.not.to.include("\u001b");
    expect(await printed("source", "events", "orders")).to.match(/^20\S+Z \d+-\d+ first$/m);
    expect(await json("source", "logs", "orders", "--limit", "1")).to.have.length(1);
  });

  it("creates a webhook and a subscription, and shows, retries and recovers deliveries", async () => {
    const created = await printed(
      ...[
        "webhook",
        "create",
        receiver.url,
        "--name",
        "inbox",
        "--header",
        "x-token: secret",
        "--rate-limit",
        "50",
      ],
    );
    expect(created).to.match(/^signing key +whsec_\S+ +\(not shown again\)$/m);
    expect(created)
      .to.match(/^headers +x-token$/m)
      .and.to.match(/^rate limit +50\/s$/m);
    expect(created).not.to.include("secret");
    const webhook = await json("webhook", "show", "inbox");
    expect(await printed("webhook", "list", "--ids")).to.include(webhook.id);
    expect(await printed("webhook", "list", "--sort", "last_event", "--ids")).to.include(webhook.id);
    const subscription = await json("subscription", "create", "orders", "inbox", "--filter", '{"n": 3}');
    expect(subscription).to.include({ emitter_id: source.id, listener_id: webhook.id });
    expect(await printed("subscription", "list")).to.match(/^sub_\w+ +orders +- +inbox +\{"n":3\}/m);
    expect(await printed("subscription", "list", "--ids")).to.include(` ${webhook.id} `);
    for (const order of ["emitter", "listener", "last_error"]) {
      expect(await printed("subscription", "list", "--sort", order), order).to.include("inbox");
    }

    receiver.script(410);
    await printed("publish", "orders", "--event", '{"n": 3}');
    const failed = await until(async () => {
      const rows = await json("delivery", "list", "--webhook", "inbox", "--state", "failed");
      return rows[0];
    });
    expect(await printed("delivery", "list")).to.match(new RegExp(`^${failed.id} +failed .* inbox `, "m"));
    expect(await printed("delivery", "show", failed.id)).to.match(/^1 +20\S+Z +schedule +410 /m);
    receiver.script(200);
    await printed("webhook", "enable", "inbox");
    expect(await printed("delivery", "retry", failed.id)).to.include("it is retried now");
    await until(async () => (await json("delivery", "show", failed.id)).state === "delivered");
    expect(await printed("delivery", "recover", "inbox", "--since", "1h", "--dry-run")).to.match(
      /^failed +0$/m,
    );
    expect(await printed("trace", failed.id)).to.include("delivered");

    const settings = ["--name", "renamed", "--ordered", "--format", "cloudevents"];
    expect(await printed("webhook", "update", "inbox", ...settings))
      .to.match(/^name +renamed$/m)
      .and.to.match(/^format +cloudevents$/m);
    expect(await printed("webhook", "test", "renamed")).to.match(/^status +200$/m);
    expect(await printed("webhook", "rotate-key", "renamed")).to.match(/^whsec_\S+\n$/);
    await printed("subscription", "delete", subscription.id, "--yes");
    await printed("webhook", "delete", "renamed", "--yes");
    expect(await json("webhook", "list")).to.deep.equal([]);
  });

  it("names the field that is wrong, and says so if a name is ambiguous", async () => {
    await api.createWebhook(receiver.url, { name: "same" });
    await api.createWebhook(receiver.url, { name: "same" });
    expect(await failure("webhook", "show", "same")).to.match(/several are called same.*wh_\w+, wh_\w+/);
    expect(await failure("webhook", "show", "absent")).to.include("webhook: none is called absent");
    expect(await failure("webhook", "create", "ftp://example.com")).to.match(/url/);
    expect(await failure("webhook", "update", "same", "--name", "other")).to.match(/several/);
    const usage = await headwater(["delivery", "list", "--since", "soon"], env);
    expect([usage.code, usage.stderr]).to.deep.equal([2, usage.stderr]);
    expect(usage.stderr).to.include("must be a date, Unix seconds, or a time ago");
    expect((await headwater(["source", "list", "--limit", "0"], env)).code).to.equal(2);
  });

  it("shows things of another account as not found", async () => {
    const other = await system.user();
    const env2 = { ...env, HEADWATER_API_KEY: other.apiKey };
    const { code, stderr } = await headwater(["source", "delete", source.id, "--yes"], env2);
    expect(code).to.equal(1);
    expect(stderr).to.include("source not found");
  });
});

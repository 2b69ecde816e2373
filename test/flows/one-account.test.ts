// runs-long: npm test has a part each in test/cli/walk.test.ts, test/clients/flow.test.ts and test/dashboard/story.test.ts

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Headwater, UnauthenticatedError } from "../../clients/typescript/src/index.ts";
import { verify } from "../../clients/typescript/src/webhooks/index.ts";
import { signInWith } from "../accounts/sessions/browser.ts";
import { type CommandResult, headwater } from "../cli/command.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const CODE = `export default { name: "Orders", version: "1", props: { http: "$.interface.http" },
  run(event) { this.$emit(event.body); } };`;

/** One account from its three sides: a program with the client, a terminal, and a browser that is signed in. */
describe("one account, by the client, the command line and the dashboard's API", () => {
  let system: System;
  let receiver: Receiver;
  let folder: string;
  let program: Headwater;
  let dashboard: Headwater;
  let env: Record<string, string>;
  beforeEach(async () => {
    system = await startSystem();
    receiver = await startReceiver();
    folder = await mkdtemp(join(tmpdir(), "headwater-one-account-"));
    const api = await system.user({ plan: "paid" });
    program = new Headwater({ url: system.baseUrl, apiKey: api.apiKey });
    env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey };
    dashboard = new Headwater({ url: system.baseUrl, fetch: asPage(await signInWith(api)) });
  });
  afterEach(async () => {
    await receiver?.close();
    await system?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** The client as the dashboard has it: without a key, and with what a browser adds to the requests of its page. */
  function asPage(cookie: string): typeof fetch {
    return (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set("cookie", cookie);
      headers.set("sec-fetch-site", "same-origin");
      return fetch(input, { ...init, headers });
    };
  }

  const terminal = async (...args: string[]): Promise<CommandResult> => {
    const result = await headwater(args, env);
    expect(result.code, result.stderr).to.equal(0);
    return result;
  };
  const json = async (...args: string[]) => JSON.parse((await terminal(...args, "--json")).stdout);

  const idsOf = async (list: AsyncIterable<{ id: string }>) => {
    const ids: string[] = [];
    for await (const { id } of list) ids.push(id);
    return ids;
  };

  it("shows on each side what another one made, and carries an event between all three", async () => {
    await writeFile(join(folder, "orders.mjs"), CODE);
    await terminal("deploy", join(folder, "orders.mjs"), "--name", "orders");
    const webhook = await program.webhooks.create({ url: receiver.url, name: "inbox" });
    const source = await dashboard.sources.get("orders");
    const subscription = await dashboard.subscriptions.create({
      emitter_id: source.id,
      listener_id: webhook.id,
    });

    for (const client of [program, dashboard]) {
      expect(await idsOf(client.sources.list())).to.deep.equal([source.id]);
      expect(await idsOf(client.webhooks.list())).to.deep.equal([webhook.id]);
      expect(await idsOf(client.subscriptions.list())).to.deep.equal([subscription.id]);
    }
    const listed = await Promise.all(["source", "webhook", "subscription"].map(kind => json(kind, "list")));
    expect(listed.map(rows => rows.map(({ id }: { id: string }) => id))).to.deep.equal([
      [source.id],
      [webhook.id],
      [subscription.id],
    ]);

    // Published in the terminal, watched in the browser, received and verified by the program.
    let delivered: string | undefined;
    for await (const seen of dashboard.watch({ emitters: [source.id], deliveries: true })) {
      if (seen.type === "ready" && !seen.resumed)
        await terminal("publish", source.id, "--event", '{"order":17}');
      if (seen.type === "emit") expect(seen.summary.event.raw_event).to.deep.equal({ order: 17 });
      if (seen.type === "delivery" && seen.delivery.state === "delivered") {
        delivered = seen.delivery.id;
        break;
      }
    }
    const request = await until(() => receiver.requests[0]);
    const { id, eventId, payload } = await verify(request.raw, request.headers, webhook.signing_key);
    expect([id, payload]).to.deep.equal([delivered, { order: 17 }]);
    expect((await program.deliveries.get(id)).attempts).to.have.lengthOf(1);
    expect((await json("delivery", "show", id)).event_id).to.equal(eventId);
    expect((await dashboard.trace(eventId, source.id)).deliveries.map(one => one.id)).to.deep.equal([id]);

    // Switched off in the browser, on again in the terminal.
    await dashboard.sources.update(source.id, { active: false });
    expect((await json("source", "show", "orders")).active).to.equal(false);
    await terminal("source", "enable", "orders");
    expect((await program.sources.get(source.id)).active).to.equal(true);

    // Deleted by the program, and gone for the others.
    await program.webhooks.delete(webhook.id);
    expect(await json("webhook", "list")).to.deep.equal([]);
    expect(await idsOf(dashboard.subscriptions.list())).to.deep.equal([]);
  });

  it("is what a file declares, and the same to the byte when the file is applied again", async () => {
    await writeFile(join(folder, "orders.mjs"), CODE);
    const file = join(folder, "headwater.yaml");
    await writeFile(
      file,
      `project: shop
sources:
  orders: { file: ./orders.mjs }
webhooks:
  inbox: { url: "${receiver.url}" }
subscriptions:
  - { from: orders, to: inbox }
`,
    );
    const whole = async (client: Headwater) =>
      JSON.stringify(
        await Promise.all([client.sources.list(), client.webhooks.list(), client.subscriptions.list()]),
      );
    expect((await terminal("apply", "-f", file)).stdout).to.match(
      /^3 to create, 0 to change, 0 to delete\.$/m,
    );
    const first = await whole(program);
    expect(await whole(dashboard)).to.equal(first);
    expect((await terminal("apply", "-f", file)).stdout).to.equal("Nothing to change.\n");
    expect(await whole(program)).to.equal(first);

    // A change from another side is a difference that applying takes back.
    const [inbox] = (await dashboard.webhooks.list()).data;
    await dashboard.webhooks.update(inbox?.id ?? "", { url: `${receiver.url}/elsewhere` });
    await terminal("apply", "-f", file);
    expect((await program.webhooks.get(inbox?.id ?? "")).url).to.equal(receiver.url);
  });

  it("ends on the sides that use a key when the browser revokes it", async () => {
    const { data } = await dashboard.request("get", "/api_keys", {});
    // The session began with it, and ends too.
    for (const { id } of data) await dashboard.request("delete", "/api_keys/{id}", { params: { id } });
    for (const client of [program, dashboard]) {
      const error = await until(() =>
        client.me().then(
          () => undefined,
          reason => reason,
        ),
      );
      expect(error).to.be.an.instanceOf(UnauthenticatedError);
    }
    const { code, stderr } = await headwater(["source", "list"], env);
    expect([code, stderr]).to.deep.equal([1, stderr]);
    expect(stderr).to.include("run headwater login");
  });
});

import { createHmac } from "node:crypto";
import { expect } from "chai";
import { type AppSettings, setApp } from "../../src/connections/apps/apps.ts";
import { Apps, Connections } from "../../src/models/connection.ts";
import { send, sendRaw } from "../sources/http-client.ts";
import type { Api, Problem } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

/** A source that is run by all that its app sends, with all of the request. */
const codeOf = (app: string) => `export default { name: "Listens", version: "0.0.1",
  props: {
    app: { type: "app", app: "${app}" },
    events: { type: "$.interface.apphook", appProp: "app" },
  },
  run(event) { this.$emit({ verified: event.verified, body: event.body }); } };`;
const WHOLE = { event: "{{request}}" };
const github = (body: string, secret = "s3cr3t", id = "d-1") => ({
  headers: {
    "content-type": "application/json",
    "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
    "x-github-delivery": id,
  },
  body: [body],
});

describe("the endpoint of a connection that verifies", () => {
  let system: System;
  let api: Api & { userId: string };
  before(async () => {
    system = await startSystem();
    api = await system.user({ plan: "paid" });
  });
  after(() => system?.stop());

  /** Returns a connection, and the address to which its app sends. */
  async function connect(app: string, verify?: object) {
    const body = { app, fields: { token: "t" }, events: WHOLE, ...(verify && { verify }) };
    const { id } = await api.expect(201, "POST", "/connections", { body });
    const source = await api.createSource({
      component_code: codeOf(app),
      configured_props: { app: { authProvisionId: id } },
    });
    return { id, source, url: (await api.expect(200, "GET", `/connections/${id}`)).endpoint_url as string };
  }
  const register = (slug: string, verify?: unknown) =>
    setApp(system.worker, {
      ...{ slug, clientId: "client", tokenAuth: "none", verify },
      ...{ authorizeUrl: "https://chat.example/authorize", tokenUrl: "https://chat.example/token" },
    } satisfies AppSettings);
  const change = (id: string, verify: object | null) =>
    api.request<Problem>("PUT", `/connections/${id}`, { body: { verify } });

  it("runs sources for what is signed, tells them by whom, and nothing for what is forged", async () => {
    const { id, url, source } = await connect("forge", { preset: "github", secrets: ["s3cr3t"] });
    for (const forged of [
      github("{}", "another"),
      { ...github("{}"), body: ['{"a":1}'] },
      { body: ["{}"] },
      { method: "GET" },
      github("x".repeat(512 * 1024), "another"),
    ]) {
      expect((await send(url, forged)).status).to.equal(401);
    }
    const signature = `X-Hub-Signature-256: ${github("{}").headers["x-hub-signature-256"]}\r\n`;
    const head = `POST ${new URL(url).pathname} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n`;
    expect(await sendRaw(url, `${head}${signature}${signature}\r\n{}`)).to.match(/^HTTP\/1\.1 401 /);
    expect(await system.web.redis.exists(system.web.keys.runQueue(source.id))).to.equal(0);
    const sent = await send(url, github('{"a":1}'));
    expect(JSON.parse(sent.text).run_ids).to.have.length(1);
    const rows = await until(async () => {
      const found = await api.summaries(source.id, { query: { expand: "event" } });
      return found.length > 0 && found;
    });
    expect(rows.map(({ event }) => event.raw_event)).to.deep.equal([
      { verified: { preset: "github", id: "d-1", at: null }, body: { a: 1 } },
    ]);

    const rejections = await until(async () => {
      const found = await api.expect(200, "GET", `/connections/${id}/rejections`);
      return found.last.length > 5 && found;
    });
    expect(rejections.counts).to.deep.equal({ mismatch: 3, "no-signature": 2, doubled: 1 });
    const stranger = await system.user();
    expect((await stranger.request("GET", `/connections/${id}/rejections`)).status).to.equal(404);
  });

  it("stores its secrets encrypted, shows none, keeps them until others are given, and ends with null", async () => {
    const { id, url } = await connect("forge", { preset: "github", secrets: ["s3cr3t"] });
    await api.expect(200, "PUT", `/connections/${id}`, {
      body: { verify: { preset: "github", reject_with: 403 } },
    });
    const shown = await api.expect(200, "GET", `/connections/${id}`);
    expect(shown.verify).to.deep.equal({
      ...{ preset: "github", rule: null, tolerance: null, reject_with: 403 },
      ...{ drop_repeats: false, mode: "enforce", secrets: 1 },
    });
    const stored = await Connections(system.web.mongo).findById(id).lean();
    expect(JSON.stringify([shown, stored])).not.to.include("s3cr3t");
    expect((await send(url, github("{}", "another"))).status).to.equal(403);
    expect((await send(url, github("{}"))).status).to.equal(200);
    expect((await change(id, null)).status).to.equal(200);
    expect((await send(url, { body: ["{}"] })).status).to.equal(200);
    const wrong = await change(id, { preset: "strip" });
    expect([wrong.status, wrong.body.errors?.[0]?.path]).to.deep.equal([400, "verify.preset"]);
  });

  it("verifies as the operator says of the app, and its owner can only be stricter", async () => {
    const { id, url } = await connect("tied", {
      preset: "stripe",
      secrets: ["whsec_own"],
      drop_repeats: true,
    });
    await register("tied", { preset: "github", secrets: ["s3cr3t"] });
    const [app] = (await api.expect(200, "GET", "/apps")).filter(
      ({ slug }: { slug: string }) => slug === "tied",
    );
    expect(app.verify).to.include({ preset: "github", secrets: 1 });
    const rows = [app, await Apps(system.web.mongo).findById("tied").lean()];
    expect(JSON.stringify(rows)).not.to.include("s3cr3t");
    expect((await send(url, github("{}", "whsec_guess"))).status).to.equal(401);
    expect((await send(url, github("{}"))).status).to.equal(200);
    expect(JSON.parse((await send(url, github("{}"))).text), "drop_repeats of the connection").to.deep.equal({
      ...{ run_ids: [], repeated: true },
    });
    for (const [verify, path] of [
      [{ preset: "github" }, "preset"],
      [{ tolerance: 9 }, "tolerance"],
      [{ mode: "report" }, "mode"],
    ] as const) {
      const { status, body } = await change(id, verify);
      expect([status, body.errors?.[0]?.path]).to.deep.equal([400, `verify.${path}`]);
    }
    expect((await change(id, { secrets: ["newer"], reject_with: 404 })).status).to.equal(200);
    expect((await send(url, github("{}", "newer", "d-2"))).status).to.equal(200);
    expect((await send(url, github("{}", "another"))).status).to.equal(404);
    await register("tied");
    expect(
      await send(url, github("{}")).then(({ status }) => status),
      "its rule was the operator's",
    ).to.equal(404);
    expect((await change(id, null)).status).to.equal(200);
    expect((await send(url, { body: ["{}"] })).status).to.equal(200);
  });

  it("shows how old a request may be as its owner alone has said it", async () => {
    await register("timed", { preset: "stripe", secrets: ["whsec_1"] });
    const { id } = await connect("timed", { tolerance: 60 });
    const { verify } = await api.expect(200, "GET", `/connections/${id}`);
    expect(verify).to.include({ preset: null, tolerance: 60 });
  });

  it("responds to challenges of its preset, and to those of its rules only in verified requests", async () => {
    const { id, url } = await connect("forge", { preset: "dropbox" });
    expect((await send(url, { method: "GET", path: "?challenge=say" })).text).to.equal("say");
    expect((await send(url, { body: ["{}"] })).status, "without a secret").to.equal(401);
    const events = { ...WHOLE, challenge: "{{body.challenge}}" };
    const verify = { preset: "github", secrets: ["s3cr3t"] };
    await api.expect(200, "PUT", `/connections/${id}`, { body: { events, verify } });
    const asked = github('{"challenge":"say"}');
    expect((await send(url, asked)).text).to.equal("say");
    expect((await send(url, { ...asked, headers: {} })).status).to.equal(401);
  });

  it("is what an operator must say right", async () => {
    for (const [verify, why] of [
      [{ preset: "strip" }, /verify\.preset/],
      [{ preset: "svix", secrets: ["whsec_not base64"] }, /verify\.secrets\[0\]/],
      [{ preset: "github", secrets: "s3cr3t" }, /verify\.secrets/],
      [{ preset: "github", more: 1 }, /verify/],
      [[], /verify/],
    ] as const) {
      const failure = await register("wrong", verify).catch(error => error);
      expect(failure.code, JSON.stringify(verify)).to.equal("invalid");
      expect(failure.message).to.match(why).and.not.include("not base64");
    }
    expect(await Apps(system.web.mongo).exists({ _id: "wrong" })).to.equal(null);
  });
});

import { createHmac } from "node:crypto";
import { expect } from "chai";
import { verificationOf } from "../../src/ingress/verification.ts";
import { Sources } from "../../src/models/source.ts";
import { PRESETS } from "../../src/verify/presets.ts";
import { send, sendRaw } from "../sources/http-client.ts";
import type { Api, SourceView } from "../support/api.ts";
import { startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";

const ECHO = `export default { name: "Echo", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { this.$emit({ verified: event.verified, has: "verified" in event, body: event.body }); } };`;
const AUTHORED = `export default { name: "Authored", version: "0.0.1",
  props: {
    secret: { type: "string", secret: true, optional: true },
    http: { type: "$.interface.http", verify: { preset: "github", secret: "secret" } },
  },
  run(event) { this.$emit({ verified: event.verified }); } };`;
/** A source that gives a service its address before it sets its secret. */
const OF_HOOK = `export default { name: "Of a hook", version: "0.0.1",
  props: {
    http: { type: "$.interface.http", verify: { preset: "github", secret: { from: "hook" } } },
    service: "string",
  },
  hooks: { async activate() {
    await fetch(this.service, { method: "POST", body: this.http.endpoint });
    this.http.setSecret("s3cr3t");
  } },
  run(event) { this.$emit({ verified: event.verified }); } };`;
/** Of a vendor that calls the address while it makes the webhook. */
const OF_ASANA = `export default { name: "Of Asana", version: "0.0.1",
  props: {
    http: { type: "$.interface.http", verify: { preset: "asana", secret: { from: "hook" } } },
    service: "string",
  },
  hooks: { async activate() {
    const response = await fetch(this.service, { method: "POST", body: this.http.endpoint });
    if (response.status !== 201) throw new Error("not confirmed");
    this.http.setSecret((await response.json())["X-Hook-Secret"]);
  } },
  run(event) { this.$emit({ verified: event.verified }); } };`;
const JSON_TYPE = { "content-type": "application/json" };

const endpointOf = (source: SourceView) => source.configured_props.http?.endpoint_url ?? "";
const github = (body: string, secret = "s3cr3t", id = "d-1") => ({
  headers: {
    ...JSON_TYPE,
    "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
    "x-github-delivery": id,
  },
  body: [body],
});

describe("a request for a source that verifies", () => {
  let system: System;
  let api: Api;
  before(async () => {
    system = await startSystem({ SANDBOX_EGRESS_ALLOW: "127.0.0.0/8" });
    api = await system.user();
  });
  after(() => system.stop());

  const deploy = (verify?: object, code = ECHO, configured_props = {}) =>
    api.createSource({ component_code: code, configured_props, ...(verify && { verify }) });
  const github401 = { preset: "github", secrets: ["s3cr3t"] };

  /** Returns what the run of a response has emitted. */
  async function emitted(source: SourceView, text: string) {
    const { run_id } = JSON.parse(text);
    expect(run_id).to.be.a("string");
    return until(
      async () => {
        const rows = await api.summaries(source.id, { query: { expand: "event", limit: 100 } });
        return rows.find(row => row.metadata.emit_id === `${run_id}-0`)?.event.raw_event;
      },
      { what: `the event of ${run_id}` },
    );
  }

  it("runs it, and tells it who sent it", async () => {
    const source = await deploy(github401);
    const response = await send(endpointOf(source), github('{"a":1}'));
    expect(response.status).to.equal(200);
    expect(await emitted(source, response.text)).to.deep.equal({
      ...{ verified: { preset: "github", id: "d-1", at: null }, has: true, body: { a: 1 } },
    });
  });

  it("is rejected if it is forged, without a word on why, and runs nothing", async () => {
    const source = await deploy(github401);
    const { keys } = system.web;
    for (const forged of [
      github('{"a":1}', "another"),
      { ...github('{"a":1}'), body: ['{"a":2}'] },
      { headers: JSON_TYPE, body: ["{}"] },
      { method: "GET" },
      { headers: JSON_TYPE, body: ["x".repeat(400_000)] },
    ]) {
      const { status, text } = await send(endpointOf(source), forged);
      expect(status).to.equal(401);
      expect(JSON.parse(text)).to.include({ status: 401, detail: "the request is not verified" });
    }
    const twice = `X-Hub-Signature-256: ${github("{}").headers["x-hub-signature-256"]}\r\n`;
    const { pathname } = new URL(endpointOf(source));
    const head = `POST ${pathname} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n`;
    expect(await sendRaw(endpointOf(source), `${head}${twice}\r\n{}`)).to.match(/^HTTP\/1\.1 200 /);
    expect(await sendRaw(endpointOf(source), `${head}${twice}${twice}\r\n{}`)).to.match(/^HTTP\/1\.1 401 /);
    await until(async () => (await api.summaries(source.id)).length === 1, { what: "the only event" });
    expect(await system.web.redis.exists(keys.runQueue(source.id), keys.arrivedIds(source.id))).to.equal(0);
  });

  it("is shown to its owner if it was rejected, with what would have made it right", async () => {
    const source = await deploy({ preset: "github", secrets: ["s3cr3t "] });
    expect((await send(endpointOf(source), github("{}"))).status).to.equal(401);
    const shown = await until(
      async () => {
        const rejections = await api.expect(200, "GET", `/sources/${source.id}/rejections`);
        return rejections.last.length > 0 && rejections;
      },
      { what: "the rejection" },
    );
    expect(shown.counts).to.deep.equal({ mismatch: 1 });
    expect(shown.last[0]).to.include({ reason: "mismatch", client_ip: "127.0.0.1", body_bytes: 2 });
    expect(shown.last[0].hint).to.match(/blanks/);
    expect(JSON.stringify(shown)).not.to.match(/s3cr3t|sha256=/);
  });

  it("is rejected as the source says, and while it has no secret", async () => {
    const source = await deploy({ preset: "github", reject_with: 403 });
    expect((await send(endpointOf(source), github("{}"))).status).to.equal(403);
    const verify = { preset: "github", secrets: ["s3cr3t"] };
    await api.expect(200, "PUT", `/sources/${source.id}`, { body: { verify } });
    expect((await send(endpointOf(source), github("{}"))).status).to.equal(200);
    const rotated = { preset: "github", secrets: ["newer", "s3cr3t"] };
    await api.expect(200, "PUT", `/sources/${source.id}`, { body: { verify: rotated } });
    for (const secret of rotated.secrets) {
      expect((await send(endpointOf(source), github("{}", secret))).status, secret).to.equal(200);
    }
    await api.expect(200, "PUT", `/sources/${source.id}`, { body: { verify: null } });
    expect((await send(endpointOf(source))).status).to.equal(200);
  });

  it("may come again while hooks are still to set the secret, and is verified by it once they have", async () => {
    const receiver = await startReceiver("hang");
    try {
      const deploying = deploy(undefined, OF_HOOK, { service: receiver.url });
      await until(() => receiver.hanging() === 1, { what: "the hook" });
      const early = await send(receiver.requests[0]?.raw ?? "", github("{}"));
      receiver.release();
      const source = await deploying;
      expect(early.status).to.equal(503);
      expect(early.headers).to.include({ "retry-after": "5" });
      expect((await send(endpointOf(source), github("{}", "another"))).status).to.equal(401);
      const response = await send(endpointOf(source), github("{}"));
      expect((await emitted(source, response.text)).verified).to.deep.equal({
        ...{ preset: "github", id: "d-1", at: null },
      });
      const { counts } = await until(
        async () => {
          const found = await api.expect(200, "GET", `/sources/${source.id}/rejections`);
          return found.last.length > 0 && found;
        },
        { what: "the rejection" },
      );
      expect(counts).to.deep.equal({ mismatch: 1 });
    } finally {
      receiver.release();
      await receiver.close();
    }
  });

  it("may be sent while the vendor makes the webhook, and give back the secret that the vendor then says", async () => {
    const secret = "b537207f20cbfa02357cf448134da559";
    // As developers.asana.com/reference/createwebhook has it: the address is called before the response.
    const asana = await startReceiver(async ({ raw }) => {
      const { status, headers } = await send(raw, { headers: { "x-hook-secret": secret }, body: [""] });
      const isConfirmed = status === 200 && headers["x-hook-secret"] === secret;
      if (!isConfirmed) return { status: 400, body: JSON.stringify({ errors: [] }) };
      return { status: 201, body: JSON.stringify({ data: { gid: "43214" }, "X-Hook-Secret": secret }) };
    });
    try {
      const source = await deploy(undefined, OF_ASANA, { service: asana.url });
      const body = '{"events":[{"action":"added"}]}';
      const signed = (by: string) => ({
        headers: { ...JSON_TYPE, "x-hook-signature": createHmac("sha256", by).update(body).digest("hex") },
        body: [body],
      });
      const response = await send(endpointOf(source), signed(secret));
      expect((await emitted(source, response.text)).verified).to.include({ preset: "asana" });
      const again = { headers: { "x-hook-secret": "of a stranger" }, body: [""] };
      expect((await send(endpointOf(source), again)).headers).to.include({
        "x-hook-secret": "of a stranger",
      });
      expect((await send(endpointOf(source), signed("of a stranger"))).status).to.equal(401);
    } finally {
      await asana.close();
    }
  });

  it("is let through, and marked, by a source that only reports", async () => {
    const source = await deploy({ ...github401, mode: "report" });
    const [forged, right] = [
      await send(endpointOf(source), github("{}", "another")),
      await send(endpointOf(source), github("{}")),
    ];
    expect(await emitted(source, forged.text)).to.include({ verified: null, has: true });
    expect((await emitted(source, right.text)).verified).to.include({ preset: "github" });
  });

  it("may be a challenge, which is responded to and runs nothing", async () => {
    const source = await deploy({ preset: "slack", secrets: ["s3cr3t"] });
    const body = JSON.stringify({ type: "url_verification", challenge: "3eZbrw1aB" });
    const at = String(Math.floor(Date.now() / 1000));
    const signature = createHmac("sha256", "s3cr3t").update(`v0:${at}:${body}`).digest("hex");
    const headers = { "x-slack-signature": `v0=${signature}`, "x-slack-request-timestamp": at };
    const response = await send(endpointOf(source), { headers: { ...JSON_TYPE, ...headers }, body: [body] });
    expect([response.status, response.text]).to.deep.equal([200, "3eZbrw1aB"]);
    expect(response.headers).to.include({ "content-type": "text/plain; charset=utf-8" });
    const ofAnother = { ...headers, "x-slack-signature": `v0=${"0".repeat(64)}` };
    expect((await send(endpointOf(source), { headers: ofAnother, body: [body] })).status).to.equal(401);
  });

  it("may ask by OPTIONS whether it may send, where the rule says so; others are a browser's", async () => {
    const asked = { method: "OPTIONS", headers: { "webhook-request-origin": "grid.example.com" } };
    const source = await deploy({ preset: "cloudevents" });
    const response = await send(endpointOf(source), asked);
    expect([response.status, response.text]).to.deep.equal([200, ""]);
    expect(response.headers).to.include({
      ...{ "webhook-allowed-origin": "grid.example.com", "webhook-allowed-rate": "*", allow: "POST" },
    });
    const preflight = { method: "OPTIONS", headers: { origin: "https://a.example" } };
    for (const [to, request] of [
      [source, preflight],
      [await deploy(github401), asked],
      [await deploy(), asked],
    ] as const) {
      const { status, headers } = await send(endpointOf(to), request);
      expect(status).to.equal(204);
      expect(headers).to.include({ "access-control-allow-origin": "*" }).and.not.have.any.keys("allow");
      expect(headers).not.to.have.any.keys("webhook-allowed-origin");
    }
    expect((await send(endpointOf(source), { ...asked, method: "POST" })).status).to.equal(401);
    expect((await send(endpointOf(source), { ...asked, method: "HEAD" })).status).to.equal(401);
  });

  it("starts no second run with an id that has come before, if the source drops repeats", async () => {
    const source = await deploy({ ...github401, drop_repeats: true });
    const [first, again, other] = [
      await send(endpointOf(source), github("{}")),
      await send(endpointOf(source), github("{}")),
      await send(endpointOf(source), github("{}", "s3cr3t", "d-2")),
    ];
    expect(JSON.parse(first.text).run_id).to.be.a("string");
    expect([again.status, JSON.parse(again.text)]).to.deep.equal([200, { run_id: null, repeated: true }]);
    expect(JSON.parse(other.text).run_id).to.be.a("string");
  });

  it("is verified as the component's author says", async () => {
    const source = await deploy(undefined, AUTHORED);
    expect((await send(endpointOf(source), github("{}"))).status).to.equal(401);
    const body = { configured_props: { secret: "s3cr3t" } };
    await api.expect(200, "PUT", `/sources/${source.id}`, { body });
    const response = await send(endpointOf(source), github("{}"));
    expect((await emitted(source, response.text)).verified).to.include({ preset: "github", id: "d-1" });
    for (const verify of [{ preset: "bearer", secrets: ["x"] }, { mode: "report" }]) {
      expect((await api.request("PUT", `/sources/${source.id}`, { body: { verify } })).status).to.equal(400);
    }
  });

  it("lists every preset, with what its secret is", async () => {
    const { presets } = await api.expect(200, "GET", "/verify/presets");
    expect(presets.map(({ name }: { name: string }) => name)).to.deep.equal(Object.keys(PRESETS));
    expect(presets.find(({ name }: { name: string }) => name === "paddle")).to.deep.equal({
      ...{ name: "paddle", title: "Paddle", secret: PRESETS.paddle?.secret, note: PRESETS.paddle?.note },
      ...{ known: "run", has_timestamp: true, tolerance: 5, version: 1 },
    });
    expect(presets[0]).to.include({ note: null });
  });

  it("does not show a secret anywhere", async () => {
    const source = await deploy({ preset: "stripe", secrets: ["whsec_not to be seen"] });
    const [read, list, row] = await Promise.all([
      api.expect(200, "GET", `/sources/${source.id}`),
      api.expect(200, "GET", "/users/me/sources", { query: { limit: 100 } }),
      Sources(system.web.mongo).findById(source.id).lean(),
    ]);
    expect(read.verify).to.deep.equal({
      ...{ by: "owner", preset: "stripe", rule: null, tolerance: 300, reject_with: 401 },
      ...{ drop_repeats: false, mode: "enforce", secrets: 1, secrets_given: 1 },
    });
    expect(JSON.stringify([read, list, row])).not.to.include("not to be seen");
  });

  it("is of any sender where nothing says how it is verified, which costs nothing", async () => {
    const source = await deploy();
    const response = await send(endpointOf(source), { headers: JSON_TYPE, body: ["{}"] });
    expect(await emitted(source, response.text)).to.deep.equal({ has: false, body: {} });
    const platform = {
      get secrets(): never {
        throw new Error("was opened");
      },
    };
    expect(verificationOf(platform, { verify: null })).to.equal(null);
    expect(verificationOf(platform, {})).to.equal(null);
  });
});

describe("how a component's author verifies", () => {
  let system: System;
  let api: Api;
  before(async () => {
    system = await startSystem({}, { workers: false });
    api = await system.user();
  });
  after(() => system.stop());

  it("is checked when the component is saved", async () => {
    const save = (verify: object, props = "") => {
      const http = `http: { type: "$.interface.http", verify: ${JSON.stringify(verify)} }`;
      const component_code = `export default { name: "N", version: "0.0.1", props: { ${http}, ${props} }, run() {} };`;
      return api.request("POST", "/components", { body: { component_code } });
    };
    expect((await save({ preset: "github" })).status).to.equal(201);
    const secret = `token: { type: "string", secret: true }`;
    expect((await save({ preset: "github", secret: "token" }, secret)).status).to.equal(201);
    for (const [verify, path] of [
      [{ preset: "githup" }, "props.http.verify.preset"],
      [{ preset: "github", secrets: ["in the code"] }, "props.http.verify"],
      [{ preset: "github", secret: "token" }, "props.http.verify.secret"],
    ] as const) {
      const { status, body } = await save(verify);
      expect([status, body.errors?.[0]?.path], path).to.deep.equal([400, path]);
    }
  });
});

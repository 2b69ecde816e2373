// runs-alone: it starts containers on ports of this machine
import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { choosePort } from "../../script/lib/ports.mjs";
import { Api } from "../support/api.ts";
import { dropKeys, openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { skipBecause } from "../support/skip.ts";
import { until } from "../support/until.ts";
import { Containers, type Rung, runAlone, rungs, whyNot } from "./container.ts";

const CODE = `export default { name: "Hello", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { this.$emit({ hello: event.body.name }); } };`;

/** Which restrictions a sandbox has on each rung (docs/decisions/0010-sandbox-privileges.md). */
const MISSING: Record<string, string[]> = {
  "root of a user namespace": [],
  "the seccomp profile": ["separate user id"],
  "no namespaces at all": ["separate network namespace", "separate user id"],
};

describe("the image", () => {
  const containers = new Containers();
  let stores: TestPlatform;
  let receiver: Receiver;
  let env: Record<string, string>;

  before(async function () {
    if (!process.env.IMAGE) skipBecause(this, "npm run test:image builds and starts it");
    const reason = whyNot({ args: [], command: ["true"] });
    if (reason) skipBecause(this, reason);
    stores = await openTestPlatform();
    receiver = await startReceiver();
    const port = await choosePort(0);
    env = {
      ...{ MONGODB_URL: stores.config.mongodbUrl, REDIS_URL: stores.config.redisUrl },
      ...{ REDIS_PREFIX: stores.config.redisPrefix, SECRETS_KEY: randomBytes(32).toString("hex") },
      ...{
        PORT: String(port),
        WORKER_PORT: String(await choosePort(0)),
        PUBLIC_URL: `http://127.0.0.1:${port}`,
      },
      ...{ HOST: "127.0.0.1", EGRESS_ALLOW: "127.0.0.0/8", METRICS_TOKEN: randomBytes(16).toString("hex") },
    };
  });
  afterEach(() => containers.removeAll());
  after(async () => {
    containers.close();
    await receiver?.close();
    await stores?.destroy();
  });

  for (const name of Object.keys(MISSING)) {
    it(`delivers an event of a component, read-only and with few privileges: ${name}`, async function () {
      const rung = rungs(containers.folder).find(one => one.name === name) as Rung;
      const reason = whyNot(rung.needs);
      if (reason) skipBecause(this, reason);
      const email = `${randomBytes(4).toString("hex")}@example.test`;
      const created = containers.run(["bin/headwater", "user", "create", "--email", email], env, rung);
      const { api_key } = JSON.parse(created) as { api_key: string };
      const web = await containers.start("small-web", env, rung);
      const workers = await containers.start("small-workers", env, rung);

      const before = receiver.requests.length;
      const api = new Api(`${env.PUBLIC_URL}/v1`, api_key);
      const source = await api.expect<{ id: string; configured_props: { http: { endpoint_url: string } } }>(
        201,
        "POST",
        "/sources",
        { body: { name: "hello", component_code: CODE } },
      );
      const webhook = await api.createWebhook(receiver.url);
      await api.subscribe(source.id, webhook.id);
      const response = await fetch(source.configured_props.http.endpoint_url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ name: "world" }),
      });
      expect(response.status).to.equal(200);
      await until(() => receiver.requests.length > before, { what: "the delivery" });
      expect(JSON.parse(receiver.requests.at(-1)?.raw ?? "")).to.deep.include({ hello: "world" });

      for (const container of [web, workers]) {
        expect(containers.exec(container, "node", "deploy/healthcheck.mjs").status, "healthcheck").to.equal(
          0,
        );
        expect(containers.exec(container, "touch", "/app/x").stderr).to.match(/Read-only file system/);
        const root = name === "root of a user namespace";
        expect(containers.exec(container, "id", "-u").stdout.trim()).to.equal(root ? "0" : "1000");
      }
      const started =
        containers
          .logs(workers)
          .split("\n")
          .find(line => line.includes("sandbox privileges")) ?? "";
      expect(/"missing":\[([^\]]*)\]/.exec(started)?.[1] ?? "", started).to.equal(
        (MISSING[name] ?? []).map(one => JSON.stringify(one)).join(","),
      );
      // In order, and long before the orchestrator would kill it.
      expect(containers.stop(workers, 20)).to.equal(0);
      expect(containers.stop(web, 20)).to.equal(0);
      await dropKeys(stores);
    });
  }

  it("ends at once with one line and exit code 78 if a setting is missing", () => {
    const { status, stderr } = runAlone(["runs"]);
    expect(status).to.equal(78);
    expect(stderr.trim()).to.match(/^runs: configuration: MONGODB_URL is not set.*$/);
  });

  it("holds no tests, no development dependencies and no settings of this machine", () => {
    const list = (path: string) => runAlone(["-A", path], ["--entrypoint", "ls"]).stdout.split("\n");
    expect(list("/app").filter(Boolean)).to.have.members([
      "LICENSE",
      "Procfile",
      "Procfile.small",
      "bin",
      "deploy",
      "dist",
      "docs",
      "node_modules",
      "openapi.json",
      "package-lock.json",
      "package.json",
      "script",
    ]);
    for (const name of ["typescript", "mocha"]) expect(list("/app/node_modules")).to.not.include(name);
  });
});

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import fc from "fast-check";
import { choosePort } from "../../script/lib/ports.mjs";
import { createUser } from "../../src/accounts/users.ts";
import { openPlatform } from "../../src/platform.ts";
import { Api } from "../support/api.ts";
import { programOf, root } from "../support/built.ts";
import { dropKeys, testConfig } from "../support/platform.ts";
import { startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { environmentOf, spawnWorker, whenReady } from "../workers/worker-process.ts";

/** Runs a script that logs in a child process, whose stdout is the log; returns the parsed lines. */
function linesOf(script: string, level = "info"): Record<string, unknown>[] {
  const flags = programOf("src/lib/logger.ts").slice(0, -1);
  const from = (source: string) => JSON.stringify(pathToFileURL(programOf(source).at(-1) ?? "").href);
  const code = `import { createLogger } from ${from("src/lib/logger.ts")};
    import { logConsole } from ${from("src/lib/logger.ts")};
    const log = createLogger("test", ${JSON.stringify(level)}); ${script}`;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [...flags, "--input-type=module", "--eval", code],
    { encoding: "utf8", cwd: root },
  );
  if (status !== 0) throw new Error(stderr);
  return stdout
    .split("\n")
    .filter(Boolean)
    .map(line => JSON.parse(line));
}

const SECRET = "hunter2-hunter2";
const SECRET_NAMES = [
  "authorization",
  "Authorization",
  "api_key",
  "apiKey",
  "signing_key",
  "password",
  "secret",
  "$auth",
  "cookie",
  "set-cookie",
];

describe("logger", () => {
  it("writes what libraries print and what Node warns of as JSON lines too", () => {
    const lines = linesOf(`logConsole(log);
      console.warn("IMPORTANT! Eviction policy is %s", "allkeys-lru"); console.error(new Error("odd").message);
      process.emitWarning("careful");`);
    expect(lines.map(({ level, msg, from }) => [level, from, msg])).to.deep.equal([
      ["warn", "console", "IMPORTANT! Eviction policy is allkeys-lru"],
      ["error", "console", "odd"],
      ["warn", "node", "process warning"],
    ]);
    expect(lines[2]?.err).to.include({ message: "careful" });
  });

  it("writes JSON lines with time, level and process, for its level and above", () => {
    const lines = linesOf(
      'log.debug("no"); log.info({ a: 1 }, "yes"); log.child({ job_id: "7" }).warn("too");',
    );
    expect(lines).to.have.length(2);
    expect(lines[0]).to.deep.include({ level: "info", process: "test", a: 1, msg: "yes" });
    expect(lines[0]?.time).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(lines[1]).to.include({ level: "warn", job_id: "7", msg: "too" });
  });

  it("never writes the value of a field that may hold a secret, at any depth", () => {
    const at = (path: string[], name: string) =>
      path.reduceRight<unknown>((inner, key) => ({ [key]: inner, other: "shown" }), { [name]: SECRET });
    const path = fc.array(fc.constantFrom("headers", "request", "config", "a", "0"), { maxLength: 5 });
    const samples = fc.sample(fc.tuple(path, fc.constantFrom(...SECRET_NAMES)), 60);
    const objects = samples.map(([keys, name]) => at(keys, name));
    const lines = linesOf(`for (const one of ${JSON.stringify(objects)}) log.info(one, "x");
      log.info({ list: [{ password: "${SECRET}" }] });
      log.info({ $auth: { oauth_access_token: "${SECRET}" } });`);
    expect(lines).to.have.length(62);
    for (const line of lines) expect(JSON.stringify(line)).to.include("[secret]").and.not.include(SECRET);
  });

  it("writes an error's type, message, code, stack and causes, and none of its other properties", () => {
    const [line] = linesOf(`
      const cause = Object.assign(new Error("inner"), { config: { headers: { "x-token": "${SECRET}" } } });
      const err = Object.assign(new TypeError("outer", { cause }), {
        code: "E_OUTER",
        command: { name: "hset", args: ["key", "${SECRET}"] },
        writeErrors: [{ err: { op: { configured_props: "${SECRET}" } } }],
      });
      log.error({ err, job_id: "7" }, "failed");`);
    const { err } = line as { err: Record<string, string> };
    expect(err).to.include({ type: "TypeError", code: "E_OUTER" });
    expect(err.message).to.equal("outer: inner");
    expect(err.stack).to.match(/outer[\s\S]*caused by: Error: inner/);
    expect(JSON.stringify(line)).not.to.include(SECRET);
  });

  it("writes circular objects, and values that JSON does not know, without throwing", () => {
    const lines = linesOf(`const a = { n: 1n, f() {}, d: new Date(0) }; a.self = a; log.info(a, "circle");
      log.info({ e: new Error("in a field") }, "named otherwise");`);
    expect(lines[0]).to.include({ msg: "circle", d: "1970-01-01T00:00:00.000Z" });
    expect(JSON.stringify(lines[1])).to.include("in a field");
  });
});

describe("the logs of web and workers", () => {
  const SECRETS = {
    prop: "prop-s3cr3t-0001",
    auth: "auth-s3cr3t-0002",
    bearer: "bearer-s3cr3t-0003",
    query: "query-s3cr3t-0004",
    body: "body-s3cr3t-0005",
    url: "url-s3cr3t-0006",
    header: "header-s3cr3t-0007",
    wrongKey: "hw_wrong0s3cr3t00000000000000008",
    admin: "admin-s3cr3t-0009",
    thrown: "thrown-s3cr3t-0010",
    logged: "logged-s3cr3t-0011",
  };
  const CODE = `export default { name: "Guarded", version: "0.0.1", dedupe: "unique",
    props: { http: "$.interface.http", db: "$.service.db", token: { type: "string", secret: true },
      acme: { type: "app", app: "acme" }, failing: { type: "string", optional: true } },
    hooks: { async activate() { if (this.failing) throw new Error("closed"); } },
    run(event) {
      console.log("${SECRETS.logged}", this.token);
      this.db.set("token", this.token);
      this.$emit({ token: this.token, auth: this.acme.$auth, body: event.body });
      if (event.path === "/fail") throw new Error("${SECRETS.thrown}" + this.token);
    } };`;

  it("hold no secret, key, header, query or payload at level debug, from request to delivery @long", async () => {
    const config = testConfig({ ADMIN_PASSWORD: SECRETS.admin });
    const platform = await openPlatform(config, "runs");
    const receiver = await startReceiver(500, 200);
    const port = await choosePort(0);
    const env: Record<string, string> = {
      ...environmentOf(config),
      ADMIN_PASSWORD: SECRETS.admin,
      PORT: String(port),
      LOG_LEVEL: "debug",
      DELIVERY_RETRY_SCHEDULE: "100ms,100ms",
    };
    const processes = ["web", "all"].map(name => spawnWorker(name, env));
    try {
      for (const one of processes) await whenReady(one);
      const { api_key } = await createUser(platform, { email: "logs@example.test" });
      const api = new Api(`http://127.0.0.1:${port}/v1`, api_key);
      const props = { token: SECRETS.prop, acme: { $auth: { oauth_access_token: SECRETS.auth } } };
      const source = await api.createSource({ component_code: CODE, configured_props: props });
      const rejected = await api.request("POST", "/sources", {
        body: { component_code: CODE, configured_props: { ...props, failing: "yes" } },
      });
      expect(rejected.status).to.equal(400);
      await api.request("PUT", `/sources/${source.id}`, { body: { configured_props: { token: 7 } } });
      const webhook = await api.expect(201, "POST", "/webhooks", {
        query: { url: `${receiver.url}?key=${SECRETS.url}` },
        body: { headers: { "x-token": SECRETS.header } },
      });
      await api.subscribe(source.id, webhook.id);
      await api.subscribe(source.id, webhook.id, "$errors");
      const dead = await api.createWebhook(`http://127.0.0.1:1/${SECRETS.url}`);
      await api.subscribe(source.id, dead.id);
      for (const path of ["", "/fail"]) {
        await fetch(`${source.configured_props.http?.endpoint_url}${path}?token=${SECRETS.query}`, {
          method: "POST",
          headers: { authorization: `Bearer ${SECRETS.bearer}`, "content-type": "application/json" },
          body: JSON.stringify({ password: SECRETS.body }),
        });
      }
      const wrong = new Api(api.baseUrl, SECRETS.wrongKey);
      expect((await wrong.request("GET", "/users/me", { query: { token: SECRETS.query } })).status).to.equal(
        401,
      );
      const origin = `http://127.0.0.1:${port}`;
      for (const password of [`${SECRETS.admin}x`, SECRETS.admin]) {
        const body = new URLSearchParams({ password });
        await fetch(`${origin}/admin/sign-in`, {
          method: "POST",
          headers: { origin },
          body,
          redirect: "manual",
        });
      }
      await fetch(`http://127.0.0.1:${port}/in/${SECRETS.query}`);
      const output = () => processes.map(one => one.output()).join("");
      await until(() => receiver.requests.length >= 4, { what: "the attempts" });
      await until(() => (output().match(/"queue":"deliveries"/g) ?? []).length >= 6, {
        what: "their log lines",
      });
      await api.expect(204, "DELETE", `/sources/${source.id}`);
      for (const one of processes) one.kill("SIGTERM");
      for (const one of processes) expect(await one.ended).to.equal(0);

      expect(JSON.parse(receiver.requests[0]?.raw ?? "").token, "the event was delivered").to.equal(
        SECRETS.prop,
      );
      const logs = output();
      for (const queue of ["runs", "emissions", "deliveries"]) expect(logs).to.include(`"queue":"${queue}"`);
      const secrets = {
        ...SECRETS,
        api_key,
        signing_key: webhook.signing_key,
        SECRETS_KEY: env.SECRETS_KEY ?? "",
      };
      for (const [name, secret] of Object.entries(secrets)) {
        const bare = secret.replace(/^(hw_|whsec_)/, "");
        for (const form of [
          bare,
          Buffer.from(bare)
            .toString("base64")
            .replace(/.{2}=*$/, ""),
        ]) {
          const at = logs.indexOf(form);
          expect(at, `${name}: …${logs.slice(Math.max(0, at - 300), at + 100)}…`).to.equal(-1);
        }
      }
      for (const line of logs.trim().split("\n")) expect(() => JSON.parse(line), line).not.to.throw();
    } finally {
      for (const one of processes) one.kill("SIGKILL");
      await receiver.close();
      await platform.mongo.dropDatabase();
      await dropKeys(platform);
      await platform.close();
    }
  });
});

const LINES = 4000;

/** Starts a process that logs lines to `fd`, and one more each 20 ms after a message; it reports how many were dropped. */
function startLogging(fd: number): ChildProcess {
  const flags = programOf("src/lib/logger.ts").slice(0, -1);
  const from = (source: string) => JSON.stringify(pathToFileURL(programOf(source).at(-1) ?? "").href);
  const code = `import { createLogger } from ${from("src/lib/logger.ts")};
    import { droppedLines } from ${from("src/lib/logger.ts")};
    const log = createLogger("test", "info");
    for (let n = 0; n < ${LINES}; n++) log.info({ n, text: "y".repeat(500) }, "line");
    process.send(droppedLines());
    process.once("message", () => setInterval(() => log.info({}, "later"), 20));`;
  return spawn(process.execPath, [...flags, "--input-type=module", "--eval", code], {
    cwd: root,
    stdio: ["ignore", fd, "inherit", "ipc"],
  });
}

/** Returns what a pipe holds now. */
function readNow(fd: number): string {
  const buffer = Buffer.alloc(1024 * 1024);
  let text = "";
  try {
    for (let n = readSync(fd, buffer); n > 0; n = readSync(fd, buffer)) text += buffer.toString("utf8", 0, n);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
  }
  return text;
}

describe("the output of a log", () => {
  it("drops and counts the lines that a stopped reader leaves no room for, says so, and goes on with whole lines @long", async () => {
    const folder = mkdtempSync(join(tmpdir(), "log-output-"));
    const path = join(folder, "pipe");
    expect(spawnSync("mkfifo", [path]).status).to.equal(0);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(path, constants.O_WRONLY);
    const child = startLogging(writer);
    try {
      const [dropped] = (await once(child, "message", { signal: AbortSignal.timeout(20_000) })) as [number];
      // 64 KB in the pipe, 1 MB in the process.
      expect(dropped).to.be.greaterThan(1000).and.lessThan(LINES);
      child.send("go on");
      let text = "";
      await until(
        () => {
          text += readNow(reader);
          return text.includes('"later"');
        },
        { what: "later lines" },
      );
      const lines = text.slice(0, text.lastIndexOf("\n")).split("\n");
      const parsed = lines.map(line => JSON.parse(line) as { msg: string; lines?: number });
      expect(parsed.filter(({ msg }) => msg === "line")).to.have.length(LINES - dropped);
      const said = parsed.filter(({ msg }) => msg === "lines of the log were dropped");
      // What was logged before the reader went on had no room either.
      expect(said).to.have.length(1);
      expect(said[0]?.lines).to.be.at.least(dropped);
    } finally {
      child.kill("SIGKILL");
      closeSync(reader);
      closeSync(writer);
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

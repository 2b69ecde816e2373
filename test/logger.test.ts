import { spawnSync } from "node:child_process";
import { expect } from "chai";
import fc from "fast-check";

/** Logs in a process of its own, whose stdout is the log, and answers its lines. */
function linesOf(script: string, level = "info"): Record<string, unknown>[] {
  const logger = new URL("../src/logger.ts", import.meta.url).href;
  const code = `import { createLogger } from ${JSON.stringify(logger)};
    const log = createLogger("test", ${JSON.stringify(level)}); ${script}`;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "--eval", code],
    { encoding: "utf8", cwd: new URL("..", import.meta.url).pathname },
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

describe("logger", function () {
  this.timeout(20_000);

  it("writes JSON lines with time, level and process, from its level on", () => {
    const lines = linesOf(
      'log.debug("no"); log.info({ a: 1 }, "yes"); log.child({ job_id: "7" }).warn("too");',
    );
    expect(lines).to.have.length(2);
    expect(lines[0]).to.deep.include({ level: "info", process: "test", a: 1, msg: "yes" });
    expect(lines[0]?.time).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(lines[1]).to.include({ level: "warn", job_id: "7", msg: "too" });
  });

  it("never writes the value of a field that may hold a secret, however deep it lies", () => {
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

  it("tells of an error its type, message, code, stack and causes, and nothing that hangs on it", () => {
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

  it("writes what refers to itself, and values that are no JSON, without throwing", () => {
    const lines = linesOf(
      'const a = { n: 1n, f() {}, d: new Date(0) }; a.self = a; log.info(a, "circle"); log.info({ e: new Error("in a field") }, "named otherwise");',
    );
    expect(lines[0]).to.include({ msg: "circle", d: "1970-01-01T00:00:00.000Z" });
    expect(JSON.stringify(lines[1])).to.include("in a field");
  });
});

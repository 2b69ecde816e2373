// runs-long: npm test has test/cli/deploy.test.ts and test/components

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { headwater, type RunningCommand, startHeadwater } from "./command.ts";

describe("headwater dev", () => {
  let folder: string;
  const started: RunningCommand[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "headwater-dev-"));
  });
  after(async () => {
    for (const command of started) command.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  });

  const save = async (name: string, content: string | object) => {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  };

  /** Starts the command and waits until it is ready. */
  async function start(...args: string[]): Promise<RunningCommand> {
    const command = startHeadwater(["dev", ...args]);
    started.push(command);
    await shows(command, /ready/);
    return command;
  }

  const shows = (command: RunningCommand, expected: RegExp | string) =>
    until(
      () => {
        const output = command.stdout();
        if (typeof expected === "string" ? output.includes(expected) : expected.test(output)) return true;
        throw new Error(`${output}${command.stderr()}`);
      },
      { what: `${expected}` },
    );

  async function stop(command: RunningCommand) {
    command.kill("SIGINT");
    return command.ended;
  }

  /** Returns the lines of one kind, without time and kind. */
  const lines = (output: string, kind: string) =>
    output
      .split("\n")
      .filter(line => line.slice(9).startsWith(`${kind} `))
      .map(line => line.slice(18));

  it("runs by timer and Enter, reloads on save, keeps the old code if the new one is broken, and ends by Ctrl-C", async () => {
    const source = (word: string) => `export const word = () => ${word};\n`;
    await save("story/parts/word.mjs", source('"old"'));
    const file = await save(
      "story/source.mjs",
      `import { word } from "./parts/word.mjs";
export default {
  name: "Story", version: "1.0.0", dedupe: "unique",
  props: { db: "$.service.db", timer: { type: "$.interface.timer", default: { intervalSeconds: 3600 } }, who: "string" },
  hooks: {
    deploy() { console.log("hook deploy"); this.$emit("backfill"); },
    activate() { console.log("hook activate"); },
    deactivate() { console.log("hook deactivate"); },
  },
  run(event) {
    const n = (this.db.get("n") ?? 0) + 1;
    this.db.set("n", n);
    if (n === 3) throw new TypeError("third time");
    this.$emit({ n, word: word(), who: this.who, seconds: event.interval_seconds }, { id: n === 2 ? 1 : n, summary: "run", name: "mine" });
  },
};\n`,
    );
    const props = await save("story/props.json", { who: "anna" });
    const command = await start(file, "--props", props);

    // The interval ticks at once; its next tick is an hour away, so all other runs are by hand.
    await shows(command, 'mine id=1 "run" {"n":1,"word":"old","who":"anna","seconds":3600}');
    expect(lines(command.stdout(), "log")).to.deep.equal(["hook deploy", "hook activate"]);
    expect(lines(command.stdout(), "emit")[0]).to.equal('default "backfill"');
    command.type("\n");
    await shows(command, "1 event by dedupe");
    command.type("\n");
    await shows(command, /error +TypeError: third time\n +at .*run \(source\.mjs:13:\d+\)/);

    await save("story/parts/word.mjs", source('"new"'));
    await shows(command, /reloaded/);
    expect(lines(command.stdout(), "log").slice(2)).to.deep.equal(["hook deactivate", "hook activate"]);
    command.type("\n");
    await shows(command, '{"n":4,"word":"new","who":"anna","seconds":3600}');

    await save("story/parts/word.mjs", "export const word = () => {\n  return = 1;\n};\n");
    await shows(command, /rejected +.*parts\/word\.mjs: line 2, column 10.*the old code stays/);
    command.type("\n");
    await shows(command, '{"n":5,"word":"new"');

    // Creating the missing file completes the component.
    await save("story/parts/word.mjs", 'export { word } from "./absent.mjs";\n');
    await shows(command, /rejected +.*absent\.mjs/);
    await save("story/parts/absent.mjs", source('"found"'));
    await until(() => lines(command.stdout(), "reloaded").length === 2, { what: "the second reload" });
    await save("story/props.json", { who: "bert" });
    await until(() => lines(command.stdout(), "reloaded").length === 3, { what: "the third reload" });
    command.type("\n");
    await shows(command, '{"n":6,"word":"found","who":"bert"');

    const { code, stdout, stderr } = await stop(command);
    expect(stderr).to.equal("");
    expect(code).to.equal(0);
    expect(lines(stdout, "log").at(-1)).to.equal("hook deactivate");
    expect(lines(stdout, "hook").filter(name => name === "deploy")).to.have.length(1);
  });

  it("ticks by a short interval, and keeps the old code if activate of the new code fails", async () => {
    const source = (activate: string) =>
      `export default { name: "Tick", version: "1", props: { timer: { type: "$.interface.timer", static: { intervalSeconds: 1 } }, db: "$.service.db" },
        hooks: { activate() { ${activate} }, deactivate() { this.db.set("off", true); } },
        run(event) { this.$emit({ at: event.timestamp, off: this.db.get("off") ?? false }); } };`;
    const file = await save("tick.mjs", source(""));
    const command = await start(file);
    await until(() => lines(command.stdout(), "emit").length >= 3, { what: "three ticks" });
    const moments = lines(command.stdout(), "emit").map(line => Number(/"at":(\d+)/.exec(line)?.[1]));
    expect(new Set(moments).size).to.equal(moments.length);

    await save("tick.mjs", source('this.$emit("lost"); throw new Error("no, not me");'));
    await shows(command, /rejected +its activate hook failed; the old code stays/);
    const before = lines(command.stdout(), "emit").length;
    await until(() => lines(command.stdout(), "emit").length > before, { what: "the old code's next tick" });
    const { code, stdout } = await stop(command);
    expect(code).to.equal(0);
    expect(stdout).to.match(/error +Error: no, not me/);
    // The effects of the rejected change were discarded.
    expect(stdout).not.to.match(/emit +default "lost"|"off":true/);
  });

  it("loads nothing again because of files that the component does not import, as its own output in the folder", async () => {
    const code = (head: string) =>
      `${head}\nexport default { name: "Alone", version: "1", props: { timer: "$.interface.timer" }, run() {} };`;
    const command = await start(
      await save("alone/alone.mjs", code("")),
      "--props",
      await save("alone/p.json", { timer: { intervalSeconds: 900 } }),
    );
    await save("alone/alone.mjs", code('import "./later.mjs";'));
    await shows(command, /rejected/);
    for (let n = 0; n < 20; n++) await save("alone/out.log", command.stdout());
    await save("alone/node_modules/x/index.mjs", "export {};");
    await save("alone/other.mjs", "export {};");
    await save("alone/later.mjs", "globalThis.later = true;");
    await shows(command, /reloaded/);
    expect(lines(command.stdout(), "rejected")).to.have.length(1);
    await stop(command);
  });

  it("responds to HTTP requests as a deployed source does", async () => {
    const custom = await save(
      "custom.mjs",
      `export default { name: "Custom", version: "1", props: { http: { type: "$.interface.http", customResponse: true } },
        run(event) {
          const { method, path, query, body, bodyRaw, headers, url } = event;
          if (path === "/silent") return;
          this.http.respond({ status: 201, headers: { "x-own": "1", connection: "close" }, body: { method, path, query, body, bodyRaw, own: headers["x-sent"], via: headers.via ?? null, same: url.startsWith(this.http.endpoint) } });
          this.$emit(body, { summary: method });
        } };`,
    );
    const plain = await save(
      "plain.mjs",
      'export default { name: "Plain", version: "1", props: { http: "$.interface.http" }, run(event) { this.$emit(event.body); } };',
    );
    const [one, other] = await Promise.all([start(custom, "--port", "0"), start(plain, "--port", "0")]);
    const urlOf = (command: RunningCommand) =>
      String(/http:\/\/127\.0\.0\.1:\d+/.exec(command.stdout())?.[0]);
    const url = urlOf(one);

    const response = await fetch(`${url}/a/b?x=1&x=2`, {
      method: "PUT",
      headers: { "content-type": "application/json", "x-sent": "yes", via: "a proxy" },
      body: '{ "n": 1 }',
    });
    expect(response.status).to.equal(201);
    expect(response.headers.get("x-own")).to.equal("1");
    expect(response.headers.get("content-security-policy")).to.equal("sandbox");
    expect(await response.json()).to.deep.equal({
      method: "PUT",
      path: "/a/b",
      query: { x: ["1", "2"] },
      body: { n: 1 },
      bodyRaw: '{ "n": 1 }',
      own: "yes",
      via: "a proxy",
      same: true,
    });
    await shows(one, 'emit     default "PUT" {"n":1}');

    const silent = await fetch(`${url}/silent`);
    expect(silent.status).to.equal(400);
    expect(await silent.json()).to.include({ error: "the component ended without a response" });
    const preflight = await fetch(url, { method: "OPTIONS" });
    expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).to.deep.equal([
      204,
      "*",
    ]);
    const large = await fetch(url, { method: "POST", body: "x".repeat(512 * 1024 + 1) });
    expect(large.status).to.equal(413);

    const form = await fetch(urlOf(other), { method: "POST", body: new URLSearchParams({ a: "1" }) });
    expect(form.status).to.equal(200);
    expect(await form.json()).to.have.property("run_id");
    await shows(other, 'emit     default {"a":"1"}');
    expect((await Promise.all([stop(one), stop(other)])).map(({ code }) => code)).to.deep.equal([0, 0]);
  });

  it("runs once on an event from a file, and its exit code says whether the run failed", async () => {
    const file = await save(
      "once.mjs",
      `export default { name: "Once", version: "1", hooks: { deactivate() { console.log("off"); } },
        run(event) { if (event.bad) throw new Error("bad event"); this.$emit(event); } };`,
    );
    const good = await save("good.json", { n: 1, text: "a\u001b[31mred" });
    const bad = await save("bad.json", { bad: true });
    const [done, failed, nothing] = await Promise.all([
      headwater(["dev", file, "--once", "--event", good]),
      headwater(["dev", file, "--once", "--event", bad]),
      headwater(["dev", file, "--once"]),
    ]);
    expect(done).to.include({ code: 0, stderr: "" });
    // Control characters, which a terminal would obey, are escaped.
    expect(lines(done.stdout, "emit")).to.deep.equal(['default {"n":1,"text":"a\\u001b[31mred"}']);
    expect(lines(done.stdout, "log")).to.deep.equal(["off"]);
    expect(failed.code).to.equal(1);
    expect(failed.stderr).to.equal("headwater: the run failed: Error: bad event\n");
    expect(lines(failed.stdout, "log")).to.deep.equal(["off"]);
    expect(nothing.code).to.equal(1);
    expect(nothing.stderr).to.match(/has no timer: set the event with --event FILE/);
  });

  describe("with a server on this machine", () => {
    let server: Receiver;
    let base: string;
    before(async () => {
      const files: Record<string, string> = {
        "/main.mjs": `import { word } from "./lib/word.mjs";
          export default { name: "Remote", version: "1", props: { timer: "$.interface.timer", url: "string" },
            async run() { this.$emit({ word, got: await (await fetch(this.url)).text() }); } };`,
        "/lib/word.mjs": 'export const word = "followed";',
        "/local": "local answer",
      };
      server = await startReceiver(({ path }) => {
        const body = files[path];
        return body === undefined
          ? 404
          : { status: 200, headers: { "content-type": "text/javascript" }, body };
      });
      base = new URL(server.url).origin;
    });
    after(() => server.close());

    it("runs a component from a URL; local addresses are reachable only with --allow", async () => {
      const props = await save("remote.json", { url: `${base}/local` });
      const local = await save(
        "fetching.mjs",
        `export default { name: "Local", version: "1", props: { timer: "$.interface.timer", url: "string" }, run() { return fetch(this.url); } };`,
      );
      // Overrides the settings of a development start of this project, which allow loopback addresses.
      const env = { EGRESS_ALLOW: "192.0.2.0/24" };
      const once = (...args: string[]) => headwater(["dev", ...args, "--once", "--props", props], env);
      const [allowed, rejected, confined] = await Promise.all([
        once(`${base}/main.mjs`, "--allow", "127.0.0.0/8"),
        once(`${base}/main.mjs`),
        once(local),
      ]);
      expect(allowed).to.include({ code: 0, stderr: "" });
      expect(lines(allowed.stdout, "emit")).to.deep.equal([
        'default {"word":"followed","got":"local answer"}',
      ]);
      expect(rejected.code).to.equal(1);
      expect(rejected.stderr).to.match(/not a public address/);
      expect(confined.code).to.equal(1);
      expect(confined.stdout).to.match(/not a public address/);
    });
  });

  it("reports an error before anything starts: exit code 1, one line", async () => {
    const needy = await save(
      "needy.mjs",
      'export default { name: "Needy", version: "1", props: { feed_url: "string", count: "integer" }, run() {} };',
    );
    const cases: [string[], 1 | 2, RegExp][] = [
      [[needy], 1, /props: feed_url is required; count is required/],
      [[needy, "--props", join(folder, "none.json")], 1, /none\.json can't be read/],
      [[await save("number.mjs", "export default 7;")], 1, /default export must be a component/],
      [[needy, "--port", "http"], 2, /--port.*must be a port/],
    ];
    for (let at = 0; at < cases.length; at += 3) {
      await Promise.all(
        cases.slice(at, at + 3).map(async ([args, code, message]) => {
          const result = await headwater(["dev", ...args]);
          expect(result.stderr).to.match(message);
          expect(result.code, result.stderr).to.equal(code);
          expect(result.stdout).to.equal("");
          if (code === 1) expect(result.stderr.trimEnd().split("\n")).to.have.length(1);
        }),
      );
    }
  });

  it("fails if the port is taken or the deploy hook throws", async () => {
    const taken = await startReceiver();
    try {
      const http = await save(
        "http.mjs",
        'export default { name: "H", version: "1", props: { http: "$.interface.http" }, run() {} };',
      );
      const throwing = await save(
        "throwing.mjs",
        'export default { name: "T", version: "1", hooks: { deploy() { throw new Error("not here"); } }, run() {} };',
      );
      const [port, hook] = await Promise.all([
        headwater(["dev", http, "--port", new URL(taken.url).port]),
        headwater(["dev", throwing]),
      ]);
      expect(port).to.include({ code: 1 });
      expect(port.stderr).to.match(/port \d+ is taken; choose another one with --port/);
      expect(hook).to.include({ code: 1, stderr: "headwater: the deploy hook failed: not here\n" });
      expect(hook.stdout).to.match(/at .*deploy \(throwing\.mjs:1:\d+\)/);
    } finally {
      await taken.close();
    }
  });

  it("has the props that the code makes, and others when the props file is saved", async () => {
    const file = await save(
      "made/source.mjs",
      `export default { name: "Made", version: "0.0.1", props: { mode: { type: "string", reloadProps: true } },
  additionalProps() {
    if (this.mode === "broken") throw new Error("no such mode");
    return { timer: { type: "$.interface.timer", default: { intervalSeconds: 3600 } }, [this.mode]: "string" };
  },
  run() { this.$emit({ mode: this.mode, value: this[this.mode] }); } };\n`,
    );
    const props = await save("made/props.json", { mode: "first", first: "one" });
    const command = await start(file, "--props", props);
    command.type("\n");
    await shows(command, '{"mode":"first","value":"one"}');
    await save("made/props.json", { mode: "broken" });
    await shows(command, "no such mode");
    await save("made/props.json", { mode: "second" });
    await shows(command, "second is required");
    await save("made/props.json", { mode: "second", second: "two" });
    await shows(command, "reloaded");
    command.type("\n");
    await shows(command, '{"mode":"second","value":"two"}');
    await stop(command);
  });
});

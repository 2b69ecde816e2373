import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { createDial } from "../../src/egress/dial.ts";
import { findDeno } from "../../src/sandbox/deno-binary.ts";
import { openSandboxHome } from "../../src/sandbox/home.ts";
import { writePrelude } from "../../src/sandbox/prelude.ts";
import type { CallResult } from "../../src/sandbox/protocol.ts";
import { openSandbox, type Sandbox } from "../../src/sandbox/sandbox.ts";
import { ended, spawnChild } from "../../src/sandbox/spawn.ts";
import { LIMITS } from "../sandbox/sandbox-fixture.ts";

const WALL_MS = 600;
const limits = { ...LIMITS, maxRunBytes: 1024 * 1024, maxResponseBytes: 1024 * 1024, maxEmits: 5 };

/** What runs in the process in place of ours, as if a component had got hold of all of it, the secret too. */
const prelude = (answer: string) => `
  const read = Deno.stdin.readable.pipeThrough(new TextDecoderStream());
  let secret = "", text = "";
  const write = (...texts) => Deno.stdout.writeSync(new TextEncoder().encode(texts.map(t => "\\n" + secret + t + "\\n").join("")));
  const say = (...messages) => write(...messages.map(m => JSON.stringify(m)));
  const started = call => ({ kind: "started", call });
  const end = (call, more = {}) => ({ kind: "ended", call, ms: 1, ...more });
  const emit = call => ({ kind: "emit", call, event: call, metadata: {} });
  for await (const chunk of read) {
    text += chunk;
    const lines = text.split("\\n");
    text = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      if (message.kind === "start") { secret = message.secret; say({ kind: "loaded" }); }
      else { const c = message.call; ${answer} }
    }
  }`;

describe("escape by a child that answers as it likes", function () {
  this.timeout(20_000);
  let home: Awaited<ReturnType<typeof openSandboxHome>>;
  let importMap: string;
  const open: Sandbox[] = [];

  before(async () => {
    home = await openSandboxHome();
    ({ importMap } = await writePrelude(home.path));
  });
  afterEach(async () => {
    for (const sandbox of open.splice(0)) {
      sandbox.kill(ended("Cancelled", "the test is over"));
      await sandbox.gone;
    }
  });
  after(() => home.close());

  async function openHostile(answer: string): Promise<Sandbox> {
    const main = join(home.path, "hostile.js");
    const modulePath = join(home.path, "none.mjs");
    await Promise.all([writeFile(main, prelude(answer)), writeFile(modulePath, "")]);
    const file = findDeno();
    const child = await spawnChild({
      privileges: {
        holds: [],
        lacks: [],
        ids: undefined,
        command: args => ({ file, args: [...args], options: { stdio: ["pipe", "pipe", "pipe"] } }),
        close: () => Promise.resolve(),
      },
      home: home.path,
      prelude: { main, importMap },
      cacheFolder: undefined,
      modulePath,
      heapMb: 64,
      limits,
      dial: createDial({ allow: [], blockedHosts: [], connectTimeoutMs: 1000 }),
    });
    const sandbox = openSandbox(child, limits);
    open.push(sandbox);
    expect((await sandbox.loaded).state).to.equal("loaded");
    return sandbox;
  }

  async function ask(sandbox: Sandbox, { forMs = 1000, calls = 3 } = {}): Promise<CallResult[]> {
    const results: CallResult[] = [];
    const request = { call: "run" as const, props: {}, db: {}, events: Array(calls).fill(0) };
    const done = await sandbox.calls(request, {
      wallMs: WALL_MS,
      forMs,
      most: 100,
      onResult: (index, result) => {
        expect(index).to.equal(results.length);
        results.push(result);
      },
    });
    expect(results.length).to.equal(done);
    return results;
  }
  const errorsOf = (results: CallResult[]) => results.map(({ error }) => error?.message ?? null);
  const BROKEN = /broke its sandbox/;

  for (const [name, answer] of Object.entries({
    "a call that was not asked for": "say(started(c), end(c), end(c + 7))",
    "calls in another order": "say(started(c), end(c), end(c + 2), end(c + 1))",
    "a call twice": "say(started(c), end(c), end(c))",
    "a second start": "say(started(c), end(c), started(c + 1))",
    "events of the call before": "say(started(c), end(c), emit(c))",
    "events of the call after": "say(started(c), end(c), emit(c + 2))",
    "more events than a run may have":
      "say(started(c), end(c)); for (let i = 0; i < 6; i++) say(emit(c + 1))",
    "a db that is too large": `say(started(c), end(c), end(c + 1, { db: { a: "x".repeat(1e5) } }))`,
    "a db that grows when it is written again": `say(started(c), end(c));
      write('{"kind":"ended","call":' + (c + 1) + ',"ms":1,"db":{"a":[' + Array(1e4).fill("1e20").join() + "]}}")`,
    "a time that is none": "say(started(c), end(c), end(c + 1, { ms: -1 }))",
    "a word of its own": `say(started(c), end(c), { kind: "paused", call: c + 1 })`,
    "that it is loaded": `say(started(c), end(c), { kind: "loaded" })`,
  })) {
    it(`ends the process that tells of ${name}, and keeps what came before`, async () => {
      const results = await ask(await openHostile(answer));
      const [first, second, ...others] = errorsOf(results);
      expect([first, others]).to.deep.equal([null, []]);
      expect(second).to.match(BROKEN);
      expect(results[1]?.emits.length).to.be.at.most(5);
    });
  }

  it("gives calls to another process that one does not take, or not as asked", async () => {
    expect(await ask(await openHostile("say(end(c))"))).to.deep.equal([]);
    expect(await ask(await openHostile("say(started(c + 1))"))).to.deep.equal([]);
  });

  it("takes no more results than calls, neither with them nor later for calls to come", async () => {
    const atOnce = await openHostile("say(started(c), end(c), end(c + 1), end(c + 2), end(c + 3))");
    expect(errorsOf(await ask(atOnce))).to.deep.equal([null, null, null]);
    expect((await atOnce.gone).message).to.match(BROKEN);

    const later = await openHostile(
      "say(started(c), end(c, { last: true })); setTimeout(() => say(started(c + 3), emit(c + 3), end(c + 3)), 50)",
    );
    expect(errorsOf(await ask(later))).to.deep.equal([null]);
    expect((await later.gone).message).to.match(BROKEN);
    expect(await ask(later)).to.deep.equal([]);
  });

  it("waits no longer than one call may take for a result that never comes", async () => {
    const none = await ask(await openHostile(""));
    expect(none.map(({ error }) => error?.code)).to.deep.equal(["Timeout"]);
    const few = await ask(await openHostile("say(started(c), end(c))"));
    expect(few.map(({ error }) => error?.code)).to.deep.equal([undefined, "Timeout"]);
  });

  it("gives no time of its own to a call that begins when the time of all is over", async () => {
    const results = await ask(
      await openHostile("say(started(c)); let n = 0; setInterval(() => say(end(c + n++)), 400)"),
      { forMs: 0, calls: 50 },
    );
    expect(results.length).to.be.below(8);
    expect(results.at(-1)?.error?.code).to.equal("Timeout");
  });

  it("believes in no time that did not pass, and counts time that is kept secret", async () => {
    const before = performance.now();
    const [long, other] = await ask(
      await openHostile("say(started(c), end(c, { ms: 1e12 }), end(c + 1, { ms: 1e12, last: true }))"),
    );
    const passedMs = performance.now() - before;
    expect((long?.durationMs ?? 0) + (other?.durationMs ?? 0))
      .to.be.above(0)
      .and.at.most(passedMs);
    const secret = await ask(
      await openHostile(
        "say(started(c)); setTimeout(() => say(end(c, { ms: 0 }), end(c + 1, { ms: 0 }), end(c + 2, { ms: 0 })), 120)",
      ),
    );
    const sum = secret.reduce((all, { durationMs }) => all + durationMs, 0);
    expect(sum).to.be.at.least(110);
  });
});

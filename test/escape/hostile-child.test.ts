import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { createDial } from "../../src/egress/dial.ts";
import type { OwnedFolder } from "../../src/lib/folders.ts";
import { findDeno } from "../../src/sandbox/deno-command.ts";
import { writePrelude } from "../../src/sandbox/prelude.ts";
import { type CallResult, hostError } from "../../src/sandbox/protocol.ts";
import { Sandbox } from "../../src/sandbox/sandbox.ts";
import { spawnChild } from "../../src/sandbox/spawn.ts";
import { openHostFolder } from "../../src/sandbox/workspace.ts";
import { LIMITS } from "../sandbox/sandbox-fixture.ts";

const WALL_MS = 600;
const limits = {
  ...LIMITS,
  maxRunParsedBytes: 64 * 1024 * 1024,
  maxDepth: 100,
  maxEmitParsedBytes: 4_000_000,
  maxRunBytes: 1024 * 1024,
  maxResponseBytes: 1024 * 1024,
  maxEmits: 5,
};

/** Replaces the prelude, as if a component had taken control of the whole process, including the secret. */
const prelude = (handler: string) => `
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
      else { const c = message.call; ${handler} }
    }
  }`;

describe("an escape by a child that sends arbitrary messages", () => {
  let folder: OwnedFolder;
  let importMap: string;
  const open: Sandbox[] = [];

  before(async () => {
    folder = await openHostFolder();
    ({ importMap } = await writePrelude(folder.path));
  });
  afterEach(async () => {
    for (const sandbox of open.splice(0)) {
      sandbox.kill(hostError("Cancelled", "the test is over"));
      await sandbox.gone;
    }
  });
  after(() => folder.close());

  async function openHostile(handler: string): Promise<Sandbox> {
    const main = join(folder.path, "hostile.js");
    const modulePath = join(folder.path, "none.mjs");
    await Promise.all([writeFile(main, prelude(handler)), writeFile(modulePath, "")]);
    const file = findDeno();
    const child = await spawnChild({
      privileges: {
        active: [],
        missing: [],
        ids: undefined,
        command: args => ({ file, args: [...args], options: { stdio: ["pipe", "pipe", "pipe"] } }),
        close: () => Promise.resolve(),
      },
      hostFolder: folder.path,
      prelude: { main, importMap, shims: [] },
      cacheFolder: undefined,
      modulePath,
      isShared: false,
      heapMb: 64,
      limits,
      dial: createDial({ allow: [], blockedHosts: [], connectTimeoutMs: 1000 }),
    });
    const sandbox = new Sandbox(child, limits);
    open.push(sandbox);
    expect((await sandbox.load(0)).state).to.equal("loaded");
    return sandbox;
  }

  async function callAll(sandbox: Sandbox, { startWithinMs = 1000, calls = 3 } = {}): Promise<CallResult[]> {
    const results: CallResult[] = [];
    const request = { call: "run" as const, props: {}, db: {}, events: Array(calls).fill(0) };
    const completed = await sandbox.callBatch(request, {
      source: 0,
      wallMs: WALL_MS,
      startWithinMs,
      maxCalls: 100,
      onResult: (index, result) => {
        expect(index).to.equal(results.length);
        results.push(result);
      },
    });
    expect(results.length).to.equal(completed);
    return results;
  }
  const errorsOf = (results: CallResult[]) => results.map(({ error }) => error?.message ?? null);
  const VIOLATION = /violated the sandbox protocol/;

  for (const [name, handler] of Object.entries({
    "a call that was not requested": "say(started(c), end(c), end(c + 7))",
    "calls in another order": "say(started(c), end(c), end(c + 2), end(c + 1))",
    "a call twice": "say(started(c), end(c), end(c))",
    "a second start": "say(started(c), end(c), started(c + 1))",
    "an event of the previous call": "say(started(c), end(c), emit(c))",
    "an event of a later call": "say(started(c), end(c), emit(c + 2))",
    "more events than are permitted": "say(started(c), end(c)); for (let i = 0; i < 6; i++) say(emit(c + 1))",
    "a db that is too large": `say(started(c), end(c), end(c + 1, { db: { a: "x".repeat(1e5) } }))`,
    "a db that is too large when it is written again": `say(started(c), end(c));
      write('{"kind":"ended","call":' + (c + 1) + ',"ms":1,"db":{"a":[' + Array(1e4).fill("1e20").join() + "]}}")`,
    "a negative duration": "say(started(c), end(c), end(c + 1, { ms: -1 }))",
    "an unknown message": `say(started(c), end(c), { kind: "paused", call: c + 1 })`,
    "the message that it is loaded": `say(started(c), end(c), { kind: "loaded" })`,
  })) {
    it(`ends the process that reports ${name}, and keeps the results before it`, async () => {
      const results = await callAll(await openHostile(handler));
      const [first, second, ...others] = errorsOf(results);
      expect([first, others]).to.deep.equal([null, []]);
      expect(second).to.match(VIOLATION);
      expect(results[1]?.emits.length).to.be.at.most(5);
    });
  }

  it("completes no call of a child that does not start the first one correctly", async () => {
    expect(await callAll(await openHostile("say(end(c))"))).to.deep.equal([]);
    expect(await callAll(await openHostile("say(started(c + 1))"))).to.deep.equal([]);
  });

  it("accepts no more results than calls, neither with them nor later for future calls", async () => {
    const atOnce = await openHostile("say(started(c), end(c), end(c + 1), end(c + 2), end(c + 3))");
    expect(errorsOf(await callAll(atOnce))).to.deep.equal([null, null, null]);
    expect((await atOnce.gone).message).to.match(VIOLATION);

    const later = await openHostile(
      "say(started(c), end(c, { last: true })); setTimeout(() => say(started(c + 3), emit(c + 3), end(c + 3)), 50)",
    );
    expect(errorsOf(await callAll(later))).to.deep.equal([null]);
    expect((await later.gone).message).to.match(VIOLATION);
    expect(await callAll(later)).to.deep.equal([]);
  });

  it("waits no longer than the limit of one call for a result that never arrives", async () => {
    const none = await callAll(await openHostile(""));
    expect(none.map(({ error }) => error?.code)).to.deep.equal(["Timeout"]);
    const few = await callAll(await openHostile("say(started(c), end(c))"));
    expect(few.map(({ error }) => error?.code)).to.deep.equal([undefined, "Timeout"]);
  });

  it("gives no further time to calls that start after the time of the batch", async () => {
    const results = await callAll(
      await openHostile("say(started(c)); let n = 0; setInterval(() => say(end(c + n++)), 400)"),
      { startWithinMs: 0, calls: 50 },
    );
    expect(results.length).to.be.below(8);
    expect(results.at(-1)?.error?.code).to.equal("Timeout");
  });

  it("ignores reported time that did not pass, and counts time that was not reported", async () => {
    const before = performance.now();
    const [long, other] = await callAll(
      await openHostile("say(started(c), end(c, { ms: 1e12 }), end(c + 1, { ms: 1e12, last: true }))"),
    );
    const passedMs = performance.now() - before;
    expect((long?.durationMs ?? 0) + (other?.durationMs ?? 0))
      .to.be.above(0)
      .and.at.most(passedMs);
    const secret = await callAll(
      await openHostile(
        "say(started(c)); setTimeout(() => say(end(c, { ms: 0 }), end(c + 1, { ms: 0 }), end(c + 2, { ms: 0 })), 120)",
      ),
    );
    const sum = secret.reduce((all, { durationMs }) => all + durationMs, 0);
    expect(sum).to.be.at.least(110);
  });
});

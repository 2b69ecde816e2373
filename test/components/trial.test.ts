import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Components } from "../../src/models/component.ts";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";

const GREETER = `export default {
  name: "Greeter", version: "0.0.1", key: "greeter",
  props: { http: "$.interface.http", db: "$.service.db", greeting: { type: "string", default: "hello" } },
  run(event) {
    console.log("seen", event.n);
    this.db.set("n", (this.db.get("n") ?? 0) + event.n);
    if (event.bad) throw new TypeError("on purpose");
    this.$emit({ [this.greeting]: event.n }, { id: 7, name: "greetings", summary: "a greeting" });
    this.http.respond({ status: 201, headers: { "x-a": "b" }, body: "done" });
  },
};`;

describe("code that is not saved", () => {
  let system: System;
  let api: Api & { userId: string };
  before(async () => {
    system = await startSystem({}, { workers: false });
    api = await system.user();
  });
  after(() => system.stop());

  const describeCode = (component_code: string) =>
    api.expect(200, "POST", "/components/describe", { body: { component_code } });
  const tryCode = (body: object) =>
    api.expect(200, "POST", "/components/try", { body: { component_code: GREETER, ...body } });

  it("is described as it would be saved", async () => {
    const { ok, errors, component } = await describeCode(GREETER);
    expect([ok, errors]).to.deep.equal([true, []]);
    expect(component).to.include({ name: "Greeter", version: "0.0.1", key: "greeter", uses_respond: true });
    expect(component.configurable_props.map(({ name }: { name: string }) => name)).to.deep.equal([
      "http",
      "db",
      "greeting",
    ]);
  });

  const WRONG: [string, string, object][] = [
    ["a syntax error", 'export default {\n  name: "x",\n  run( { }\n};', { path: "component_code", line: 4 }],
    ["an end in the middle", "export default {", { path: "component_code", line: 1, column: 17 }],
    [
      "an error while it is loaded",
      "\n  none;",
      { message: "none is not defined (at component.js:2:3)", line: 2, column: 3 },
    ],
    [
      "an import that is not allowed",
      'import x from "./x.js";\nexport default x;',
      { path: "component_code", line: 1 },
    ],
    ["a missing version", 'export default { name: "x", run() {} };', { path: "version", line: null }],
    [
      "a second timer",
      'export default { name: "x", version: "1", props: { a: "$.interface.timer", b: "$.interface.timer" }, run() {} };',
      { path: "props.b", line: null },
    ],
  ];
  for (const [what, code, error] of WRONG) {
    it(`has ${what} named, at its line`, async () => {
      const { ok, errors, component } = await describeCode(code);
      expect([ok, component]).to.deep.equal([false, null]);
      expect(errors[0]).to.include(error);
      expect(
        (await api.request("POST", "/components/try", { body: { component_code: code } })).status,
      ).to.equal(400);
    });
  }

  it("runs once, and shows all that it did", async () => {
    const tried = await tryCode({ event: { n: 2 }, configured_props: { greeting: "hi" }, db: { n: 40 } });
    expect(tried).to.deep.include({
      ok: true,
      emits: [{ event: { hi: 2 }, name: "greetings", id: 7, summary: "a greeting", ts: null }],
      emits_left_out: 0,
      response: { status: 201, headers: { "x-a": "b" }, body: "done" },
      error: null,
      db: { n: 42 },
    });
    expect(tried.logs.map(({ level, message }: Record<string, string>) => [level, message])).to.deep.equal([
      ["info", "seen 2"],
    ]);
    expect(tried.ms).to.be.greaterThan(0);
  });

  it("runs a saved component as its code, for those who may deploy it", async () => {
    const owner = await system.user();
    const { id } = await owner.expect(201, "POST", "/components", { body: { component_code: GREETER } });
    const body = { event: { n: 2 }, configured_props: { greeting: "hi" }, db: { n: 40 } };
    const tried = await owner.expect(200, "POST", `/components/${id}/try`, { body });
    expect(tried).to.deep.include({ ok: true, error: null, db: { n: 42 } });
    expect(tried.emits.map(({ event }: { event: unknown }) => event)).to.deep.equal([{ hi: 2 }]);
    const failed = await owner.expect(200, "POST", `/components/${id}/try`, {
      body: { event: { n: 1, bad: true } },
    });
    expect(failed.ok).to.equal(false);
    expect(failed.error.line).to.be.greaterThan(0);
    const wrong = { configured_props: { greeting: 7 } };
    const problem = await owner.request<{ errors: { path: string }[] }>("POST", `/components/${id}/try`, {
      body: wrong,
    });
    expect([problem.status, problem.body.errors[0]?.path]).to.deep.equal([400, "configured_props.greeting"]);
    const stranger = await system.user();
    await stranger.expect(404, "POST", `/components/${id}/try`, { body });
    expect(await owner.expect(200, "GET", "/users/me/sources")).to.deep.equal([]);
    await owner.expect(204, "DELETE", `/components/${id}`);
  });

  it("shows as many bytes of events as it may, and counts the rest; a larger db is left out", async () => {
    const half = LIMITS.trialShownBytes.value / 2;
    // An event has its metadata beside it, in 30 bytes.
    const code = `export default { name: "Wide", version: "0.0.1", props: { db: "$.service.db" },
      run({ bytes }) { for (const n of bytes) this.$emit("x".repeat(n)); } };`;
    const tryBytes = (bytes: number[], db: object = {}) =>
      tryCode({ component_code: code, event: { bytes }, db });
    const fits = await tryBytes([half - 100, half - 100]);
    expect([fits.emits.length, fits.emits_left_out]).to.deep.equal([2, 0]);
    const over = await tryBytes([half - 100, half - 100, 200]);
    expect([over.emits.length, over.emits_left_out]).to.deep.equal([2, 1]);
  });

  const SAMPLES: [string, string, unknown[]][] = [
    ["a value", "{ id: 7, nested: { a: [1] } }", [{ id: 7, nested: { a: [1] } }]],
    ["a function that returns one", "() => ({ id: 7 })", [{ id: 7 }]],
    [
      "a function that reads its props and emits",
      "async function () { this.$emit(this.greeting); }",
      ["hello"],
    ],
    ["a function that gives none", "() => undefined", []],
  ];
  for (const [what, sample, emits] of SAMPLES) {
    it(`emits its sample without a run: ${what}`, async () => {
      const component_code = GREETER.replace("run(event)", `sampleEmit: ${sample},\n  run(event)`);
      expect((await describeCode(component_code)).component).to.include({ sample_emit: true });
      const tried = await tryCode({ component_code, sample_emit: true });
      expect(tried.emits.map(({ event }: { event: unknown }) => event)).to.deep.equal(emits);
      expect([tried.ok, tried.logs, tried.db]).to.deep.equal([true, [], {}]);
    });
  }

  it("says that there is no sample, or what is wrong with it", async () => {
    expect((await describeCode(GREETER)).component).to.include({ sample_emit: false });
    const body = { component_code: GREETER, sample_emit: true };
    const { status, body: problem } = await api.request("POST", "/components/try", { body });
    expect([status, problem.errors?.[0]?.path]).to.deep.equal([400, "sample_emit"]);
    const component_code = GREETER.replace(
      "run(event)",
      'sampleEmit() { throw new Error("none"); },\n  run(event)',
    );
    const { error } = await tryCode({ component_code, sample_emit: true });
    expect(error).to.include({ message: "none", line: 4 });
  });

  it("has its error shown at its line, with what it logged and stored before", async () => {
    const tried = await tryCode({ event: { n: 1, bad: true } });
    expect(tried).to.include({ ok: false });
    expect(tried.error).to.include({ code: "TypeError", message: "on purpose", line: 7 });
    expect([tried.logs.length, tried.emits, tried.db]).to.deep.equal([1, [], { n: 1 }]);
  });

  it("runs as an action for the event, with templates filled in, and shows what it exports", async () => {
    const component_code = `export default { name: "A", version: "1", type: "action", props: { to: "string" },
      run({ steps, $ }) { $.export("$summary", "to " + this.to); return steps.trigger.context.test; } };`;
    const configured_props = { to: "{{event.user.name}}" };
    const event = { user: { name: "Ada" } };
    const { ok, emits } = await tryCode({ component_code, configured_props, event });
    expect([ok, emits.map((one: { name: string; event: unknown }) => [one.name, one.event])]).to.deep.equal([
      true,
      [
        ["$summary", "to Ada"],
        ["", true],
      ],
    ]);
    const { status, body } = await api.request("POST", "/components/try", {
      body: { component_code, configured_props, event: {} },
    });
    expect([status, body.errors[0].path]).to.deep.equal([400, "configured_props.to"]);
  });

  it("counts as a run, stores nothing, and has its props checked", async () => {
    const before = (await api.expect(200, "GET", "/users/me")).daily_invocations_used;
    await tryCode({ event: { n: 1 } });
    const { daily_invocations_used } = await api.expect(200, "GET", "/users/me");
    expect(daily_invocations_used - before).to.equal(1);
    expect(await Components(system.worker.mongo).countDocuments()).to.equal(0);
    const body = { component_code: GREETER, configured_props: { greeting: 1, other: 2 } };
    const { status, body: problem } = await api.request("POST", "/components/try", { body });
    expect([status, problem.errors.map(({ path }: { path: string }) => path)]).to.deep.equal([
      400,
      ["configured_props.other", "configured_props.greeting"],
    ]);
  });

  for (const wrong of [
    {},
    { component_code: "" },
    { component_code: 1 },
    { component_code: "x", event: 1, more: 2 },
  ]) {
    it(`can't be ${JSON.stringify(wrong)}`, async () => {
      expect((await api.request("POST", "/components/try", { body: wrong })).status).to.equal(400);
    });
  }

  describe("of several files", () => {
    const FILES = {
      "app/main.mjs":
        'import { twice } from "../lib/ twice.mjs";\nimport { n } from "./n";\nexport default { name: "Several", version: "0.0.1", run(event) { this.$emit({ n: twice(event.n) + n }); } };',
      "lib/ twice.mjs":
        "export function twice(n) {\n  if (n === 13) throw new Error('on purpose');\n  return 2 * n;\n}",
      "app/n.ts": "export const n: number = 1;",
    };
    const entry = "app/main.mjs";
    const with_ = (files: Record<string, string>) => ({ files: { ...FILES, ...files }, entry });

    it("is described, and runs", async () => {
      const { ok, component } = await api.expect(200, "POST", "/components/describe", { body: with_({}) });
      expect([ok, component.name]).to.deep.equal([true, "Several"]);
      const tried = await api.expect(200, "POST", "/components/try", {
        body: { ...with_({}), event: { n: 2 } },
      });
      expect(tried.emits[0].event).to.deep.equal({ n: 5 });
    });

    const FAULTS: [string, Record<string, string>, object][] = [
      [
        "a syntax error",
        { "lib/ twice.mjs": "export function {" },
        { path: "files", file: "lib/ twice.mjs", line: 1 },
      ],
      ["a syntax error of the entry", { "app/main.mjs": "\nexport {" }, { file: "app/main.mjs", line: 2 }],
      [
        "an import of nothing",
        { "app/n.ts": '\nimport "./none";' },
        { path: "files", file: "app/n.ts", line: 2 },
      ],
      [
        "an error while it is loaded",
        { "app/n.ts": "export const n = 1;\n  none;" },
        { file: "app/n.ts", line: 2, column: 3 },
      ],
      [
        "a missing version",
        { "app/main.mjs": 'export default { name: "x", run() {} };' },
        { path: "version", file: null },
      ],
    ];
    for (const [what, files, error] of FAULTS) {
      it(`has ${what} named, in its file and line`, async () => {
        const { ok, errors } = await api.expect(200, "POST", "/components/describe", { body: with_(files) });
        expect(ok).to.equal(false);
        expect(errors[0]).to.include(error);
      });
    }

    it("has what its run throws named, in its file and line", async () => {
      const { error } = await api.expect(200, "POST", "/components/try", {
        body: { ...with_({}), event: { n: 13 } },
      });
      expect(error).to.include({ message: "on purpose", file: "lib/ twice.mjs", line: 2 });
    });

    it("needs code in one of the fields, and an entry", async () => {
      for (const path of ["/components/describe", "/components/try"]) {
        for (const body of [{}, { files: FILES }, { files: FILES, entry: "none.mjs" }, { entry }])
          expect((await api.request("POST", path, { body })).status, JSON.stringify(body)).to.equal(400);
      }
    });
  });
});

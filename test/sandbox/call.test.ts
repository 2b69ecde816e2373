import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import type { HttpResponse } from "../../src/sandbox/protocol.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { bundleOf, openTestSandboxes, RUN, running } from "./sandbox-fixture.ts";

describe("a call in a sandbox", () => {
  let sandboxes: Sandboxes;
  let key = 0;

  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes.close());
  afterEach(() => sandboxes.drop("k"));

  const call = (bundle: ReturnType<typeof running>, request = {}, options = {}) =>
    sandboxes.call(`k${++key}`, bundle, { ...RUN, ...request }, options);

  it("passes the event to run, and returns the emitted events in order, as they were when they were emitted", async () => {
    const result = await call(
      running(`
        const item = { n: 1 };
        await this.$emit(item, { id: 7, name: "items", summary: "one", ts: 5 });
        item.n = 2;
        this.$emit(item, { id: "x" });
        this.$emit(event.value);
        this.$emit(undefined);`),
      { event: { value: [true, null, "ü"] } },
    );
    expect(result.error).to.equal(undefined);
    expect(result.emits).to.deep.equal([
      { event: { n: 1 }, metadata: { id: 7, name: "items", summary: "one", ts: 5 } },
      { event: { n: 2 }, metadata: { id: "x" } },
      { event: [true, null, "ü"], metadata: {} },
      { event: null, metadata: {} },
    ]);
    expect(result).to.not.have.property("db");
  });

  it("emits the event itself if the component has no run", async () => {
    const result = await call(bundleOf(`export default { name: "T", version: "1" };`), { event: { a: 1 } });
    expect(result.emits).to.deep.equal([{ event: { a: 1 }, metadata: {} }]);
  });

  it("calls hooks, and does nothing for a hook that the component does not have", async () => {
    const bundle = bundleOf(`
      const common = { hooks: { async deploy() { this.$emit(this.greet()); } } };
      export default { name: "T", version: "1",
        methods: { greet() { return "hello " + this.who; } },
        hooks: { ...common.hooks, async activate() { await common.hooks.deploy.bind(this)(); } } };`);
    for (const hook of ["deploy", "activate"]) {
      const result = await call(bundle, { call: hook, props: { who: "you" } });
      expect(result.emits.map(emit => emit.event)).to.deep.equal(["hello you"]);
    }
    expect(await call(bundle, { call: "deactivate" })).to.deep.include({ emits: [], logs: [] });
  });

  it("binds methods and props to one flat this, which is new for each call", async () => {
    const bundle = running(
      `const { both } = this;
       this.$emit([both(), this.count, typeof this.run, this.optional]);
       this.count = 9;`,
      `props: { a: "string", count: { type: "integer" }, optional: "string" },
       methods: { first() { return this.a; }, both() { return this.first() + this.first(); } },`,
    );
    for (let i = 0; i < 2; i++) {
      const result = await sandboxes.call("k-flat", bundle, { ...RUN, props: { a: "x", count: 3 } });
      expect(result.emits[0]?.event).to.deep.equal(["xx", 3, "undefined", null]);
    }
  });

  it("provides app props with their methods, $auth and the db", async () => {
    const bundle = bundleOf(`
      const app = { type: "app", app: "github", propDefinitions: {},
        methods: {
          token() { return this.$auth.oauth_access_token; },
          header() { this.db.set("seen", true); return "Bearer " + this.token(); } } };
      export default { name: "T", version: "1", props: { github: app, db: "$.service.db" },
        run() { this.$emit(this.github.header()); this.$emit(this.github.$auth); } };`);
    const props = { github: { $auth: { oauth_access_token: "t0" } } };
    const result = await call(bundle, { props });
    expect(result.emits.map(emit => emit.event)).to.deep.equal(["Bearer t0", { oauth_access_token: "t0" }]);
    expect(result.db).to.deep.equal({ seen: true });
    expect((await call(bundle)).emits[0]?.event).to.equal("Bearer undefined");
  });

  describe("$emit", () => {
    const emits = async (args: string) => (await call(running(`this.$emit(${args})`))).error;

    it("rejects channels that start with $", async () => {
      expect(await emits(`1, { name: "$errors" }`)).to.have.property("code", "TypeError");
    });
    it("rejects metadata that is not an object, and events that have no JSON form", async () => {
      for (const args of ["() => 1", "10n", "1, 'meta'"]) {
        expect(await emits(args), args).to.have.property("code", "TypeError");
      }
      expect((await emits("this.c = { c: this }"))?.message).to.contain("circular");
    });
    const longer = (field: string, most: number) =>
      call(running(`for (const n of [${most}, ${most} + 1]) this.$emit(n, { ${field}: "x".repeat(n) })`));

    it("takes the name of a channel as long as it may be, and no longer", async () => {
      const most = LIMITS.channelCharacters.value;
      const { emits: taken, error } = await longer("name", most);
      expect(taken.map(({ event }) => event)).to.deep.equal([most]);
      expect(error).to.include({ code: "TypeError" });
    });
    it("takes an id as long as it may be, and of a longer one its hash", async () => {
      const most = LIMITS.emitIdCharacters.value;
      const { emits: taken, error } = await longer("id", most);
      expect(error).to.equal(undefined);
      expect(taken.map(({ metadata }) => String(metadata.id ?? "").length)).to.satisfy(
        ([whole = 0, hashed = 0]: number[]) => whole === most && hashed > 0 && hashed < most,
      );
    });
    it("accepts any value in metadata that only describes the event", async () => {
      const meta = `{ id: 12n, name: null, summary: 5, ts: "2024-01-01T00:00:00Z" }`;
      const result = await call(running(`this.$emit(1, ${meta}); this.$emit(2, { ts: NaN, id: undefined })`));
      expect(result.emits.map(emit => emit.metadata)).to.deep.equal([
        { id: "12", summary: "5", ts: 1_704_067_200_000 },
        {},
      ]);
    });
    it("rejects an event that is too large or too deeply nested, and keeps the events before it", async () => {
      const big = await call(running(`this.$emit(1); this.$emit("x".repeat(${LIMITS.emitBytes.value}))`));
      expect(big.error).to.include({ code: "RangeError" });
      expect(big.emits.length).to.equal(1);
      const huge = await call(running(`this.$emit("x".repeat(5e6))`));
      expect(huge.error?.message).to.equal(
        `An event can have at most ${LIMITS.emitBytes.value} bytes; this one has 5000002`,
      );
      const deep = running(
        `let d = []; for (let i = 0; i < ${LIMITS.eventDepth.value}; i++) d = [d, 1]; this.$emit(d)`,
      );
      expect((await call(deep)).error?.message).to.contain("nested");
    });
    it("rejects the first event above the limit", async () => {
      const result = await call(running(`for (let i = 0; i <= ${LIMITS.emits.value}; i++) this.$emit(i)`));
      expect(result.error).to.include({
        code: "RangeError",
        message: `A run can emit at most ${LIMITS.emits.value} events`,
      });
      expect(result.emits.length).to.equal(LIMITS.emits.value);
    });
    it("limits the memory that the events of a run take on the worker, whatever their text @long", async () => {
      const wide = await call(running("this.$emit(Array.from({ length: 50_000 }, () => []))"));
      expect(wide.error?.message, "of one event").to.include("so many arrays, objects and values");
      const code = "const list = Array.from({ length: 40_000 }, () => []); for (;;) this.$emit(list);";
      const { error, emits } = await call(running(code));
      expect(error).to.include({ code: "RangeError" });
      expect(error?.message).to.include("so many arrays, objects and values");
      const most = LIMITS.runParsedBytes.value / (40_000 * 64);
      expect(emits.length).to.be.within(0.6 * most, most);
    });
  });

  describe("db", () => {
    const props = `props: { db: "$.service.db" },`;
    const state = { n: 1, deep: { a: [1] }, gone: true };

    it("is read and written synchronously and by value, and is returned if it changed", async () => {
      const result = await call(
        running(
          `const deep = this.db.get("deep"); deep.a.push(2);
           this.$emit([this.db.get("deep"), this.db.get("absent") === undefined]);
           this.db.set("n", this.db.get("n") + 1);
           this.db.set("gone", undefined);`,
          props,
        ),
        { db: state },
      );
      expect(result.emits[0]?.event).to.deep.equal([{ a: [1] }, true]);
      expect(result.db).to.deep.equal({ n: 2, deep: { a: [1] } });
    });
    it("is returned if the run throws, with the events emitted until then", async () => {
      const result = await call(
        running(`this.$emit(1); this.db.set("n", 5); throw new Error("later")`, props),
        {
          db: { n: 1 },
        },
      );
      expect(result.error?.message).to.equal("later");
      expect(result.db).to.deep.equal({ n: 5 });
      expect(result.emits.length).to.equal(1);
    });
    it("fails the run if it exceeds the limit, even if the code catches the error, and keeps its other changes", async () => {
      const body = `this.db.set("a", 1); try { this.db.set("big", "x".repeat(62000)) } catch {} this.$emit("on")`;
      const result = await call(running(body, props));
      expect(result.error?.message).to.match(
        /^The db can hold at most 61440 bytes; with "big" it would hold 620\d\d$/,
      );
      expect(result.db).to.deep.equal({ a: 1 });
    });
    it("can be filled up to the limit, and not by one byte more", async () => {
      const body = (size: number) => running(`this.db.set("k", "x".repeat(${size}))`, props);
      const frame = '{"k":""}'.length;
      expect((await call(body(LIMITS.databaseBytes.value - frame))).error).to.equal(undefined);
      expect((await call(body(LIMITS.databaseBytes.value - frame + 1))).error?.code).to.equal("RangeError");
    });
  });

  describe("http", () => {
    const props = `props: { http: { type: "$.interface.http", customResponse: true } },`;
    async function respond(given: string) {
      const responses: HttpResponse[] = [];
      const bundle = running(given, props);
      const result = await call(
        bundle,
        { props: { http: { endpoint_url: "https://x.test/" } } },
        { onRespond: (response: HttpResponse) => responses.push(response) },
      );
      return { result, responses, body: Buffer.from(responses[0]?.bodyBase64 ?? "", "base64") };
    }

    it("responds once, before the run ends", async () => {
      const { responses, body, result } = await respond(`
        await this.http.respond({ status: "201", headers: { "X-A": 1, "x-none": undefined }, body: "first ü" });
        this.http.respond({ status: 500 });
        this.$emit([this.http.endpoint, this.http.endpointUrl]);`);
      expect(responses.length).to.equal(1);
      expect(responses[0]).to.deep.include({ status: 201, headers: { "X-A": "1" } });
      expect(body.toString()).to.equal("first ü");
      expect(result.emits[0]?.event).to.deep.equal(["https://x.test/", "https://x.test/"]);
    });
    it("keeps a list of cookies as a list, and joins the values of any other header", async () => {
      const cookies = ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=2"];
      const { responses } = await respond(
        `this.http.respond({ headers: { "Set-Cookie": ${JSON.stringify(cookies)}, "x-list": ["1", 2] } })`,
      );
      expect(responses[0]?.headers).to.deep.equal({ "Set-Cookie": cookies, "x-list": "1, 2" });
    });
    it("sends objects as JSON and buffers as they are", async () => {
      const object = await respond(`this.http.respond({ body: { a: [1] } })`);
      expect(object.body.toString()).to.equal('{"a":[1]}');
      expect(object.responses[0]?.headers).to.have.property("content-type").that.contains("json");
      const bytes = await respond(`this.http.respond({ body: Buffer.from([0, 255, 10]) })`);
      expect([...bytes.body]).to.deep.equal([0, 255, 10]);
    });
    it("rejects a response that can't be sent", async () => {
      for (const given of [
        `{ status: 99 }`,
        `{ status: "x" }`,
        `{ headers: { "a b": "1" } }`,
        `{ headers: { a: "1\\r\\nset-cookie: x" } }`,
        `{ body: Buffer.alloc(6e6) }`,
      ]) {
        const { responses, result } = await respond(`this.http.respond(${given})`);
        expect(responses, given).to.deep.equal([]);
        expect(result.error, given).to.not.equal(undefined);
      }
    });
  });

  describe("errors", () => {
    it("have their name as the code, their message, and a stack with the component's own lines", async () => {
      const code = `class ConfigurationError extends Error { constructor(m) { super(m); this.name = "ConfigurationError"; } }
export default { name: "T", version: "1",
  run() { throw new ConfigurationError("no token"); } };`;
      const { error } = await call(bundleOf(code));
      expect(error).to.include({ code: "ConfigurationError", message: "no token" });
      expect(error?.stack).to.contain("component.mjs:3:17");
      expect(error?.stack).to.not.match(/prelude|tmp/);
    });
    it("are mapped through the bundle's source map", async () => {
      // Generated line 1 comes from line 41 of the author's file: VLQ 0,0,40,0.
      const map = JSON.stringify({ version: 3, sources: ["own.mjs"], names: [], mappings: "AAwCA" });
      const { error } = await call({
        code: `export default { name: "T", version: "1", run() { throw new Error("x") } };
//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString("base64")}
`,
        hash: "m",
      });
      expect(error?.stack).to.contain("own.mjs:41:");
    });
    it("can be thrown values of any type, and include their causes", async () => {
      expect((await call(running(`throw "text"`))).error).to.include({ code: "Error", message: "text" });
      expect((await call(running(`throw { a: 1 }`))).error?.message).to.equal('{"a":1}');
      expect((await call(running(`throw null`))).error?.message).to.equal("null was thrown");
      const caused = await call(running(`throw new Error("outer", { cause: new Error("inner") })`));
      expect(caused.error?.stack).to.contain("Caused by: Error: inner");
    });
    it("fail the call if a promise that is not awaited rejects, or a timer throws", async () => {
      const rejected = running(
        `Promise.reject(new Error("nobody")); await new Promise(r => setTimeout(r, 50))`,
      );
      expect((await call(rejected)).error?.message).to.equal("nobody");
      expect((await call(running(`Promise.reject(new Error("at the end"))`))).error?.message).to.equal(
        "at the end",
      );
      const thrown = running(
        `setTimeout(() => { throw new Error("timer") }, 1); await new Promise(() => {})`,
      );
      expect((await call(thrown)).error?.message).to.equal("timer");
    });
    it("of a module that can't be loaded fail the call", async () => {
      expect((await call(bundleOf("throw new TypeError('at load')"))).error).to.include({
        code: "TypeError",
        message: "at load",
      });
      const unreadable = (await call(bundleOf("export default {"))).error?.message;
      expect(unreadable).to.contain("Unexpected").and.contain("component.mjs:1:17");
      expect((await call(bundleOf("export default 5"))).error?.message).to.contain("default export");
    });
  });

  describe("logs", () => {
    it("contain the formatted output of console, with level and time, and of the process's streams", async () => {
      const { logs } = await call(
        running(`
          console.log("a %s %d", "b", 1, { c: [2] });
          console.debug("d"); console.warn("w"); console.error(new Error("e").message);
          process.stdout.write("out\\n"); process.stderr.write("err");`),
      );
      expect(logs.map(({ level, message }) => [level, message])).to.deep.equal([
        ["info", "a b 1 { c: [ 2 ] }"],
        ["debug", "d"],
        ["warn", "w"],
        ["error", "e"],
        ["info", "out"],
        ["error", "err"],
      ]);
      expect(logs[0]?.ts).to.be.closeTo(Date.now(), 60_000);
    });
    it("are truncated at the limit, and say so", async () => {
      const result = await call(
        running(`for (let i = 0; i < 5000; i++) console.log("x".repeat(1000)); this.$emit(1)`),
      );
      expect(result.emits.length).to.equal(1);
      const bytes = result.logs.reduce((sum, line) => sum + line.message.length, 0);
      expect(bytes / LIMITS.logBytes.value).to.be.within(0.9, 1.02);
      expect(result.logs.at(-1)).to.include({
        level: "warn",
        message: "The logs are truncated here: a run can log at most 64 KB",
      });
    });
    it("are limited even if all lines are empty", async () => {
      const { logs } = await call(running(`for (let i = 0; i < 100000; i++) console.log("")`));
      expect(logs.length).to.be.lessThan(2100);
    });
  });
});

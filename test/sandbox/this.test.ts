import { expect } from "chai";
import type { CallRequest } from "../../src/sandbox/protocol.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { bundleOf, LIMITS, openTestSandboxes, RUN } from "./sandbox-fixture.ts";

const APP = `{
  type: "app", app: "harbor", label: "Harbor",
  propDefinitions: { berth: { type: "string", async options() { return [String(spread(this))]; } } },
  props: { db: "$.service.db" },
  methods: { token() { return this.$auth.token; }, limit: 7 },
}`;

/** Each function of it emits, or returns, the names that spreading `this`, and what is on it, gives. */
const SPREADS = bundleOf(`
  const all = object => { const names = []; for (const name in object) names.push(name); return names; };
  const spread = self => JSON.stringify([Object.keys({ ...self }).sort(), all(self).sort()]);
  const say = self => [
    spread(self), JSON.stringify(self.harbor), spread(self.harbor), spread(self.db), spread(self.call), spread(self.http),
    [self.harbor.token(), self.twice(), self.harbor.limit, typeof self.$emit, typeof self.call.execute, typeof self.http.respond],
  ];
  const harbor = ${APP};
  export default {
    name: "T", version: "1",
    props: {
      harbor, db: "$.service.db", http: "$.interface.http", call: { type: "http_request", optional: true }, word: "string",
      berth: { propDefinition: [harbor, "berth"] }, own: { type: "string", async options() { return say(this); } },
    },
    methods: { twice() { return this.word + this.word; }, constant: 1 },
    hooks: { async deploy() { this.$emit(say(this)); } },
    async additionalProps() { return { told: { type: "string", default: JSON.stringify(say(this)) } }; },
    sampleEmit() { return say(this); },
    async run() { return this.$emit?.name === "$emit" ? this.$emit(say(this)) : say(this); },
  };`);

const PROPS = {
  ...{ harbor: { $auth: { token: "t" } }, call: { url: "https://example.com" }, word: "ho" },
  http: { endpoint_url: "https://example.com/in/x" },
};
const SPREAD = (names: string[]) => JSON.stringify([names, names]);

/** Each form of an id, as code, with what it becomes and what the log says of it. */
const IDS: [code: string, id: unknown, said?: RegExp][] = [
  [`"a"`, "a"],
  ["7", 7],
  ["12345678901234567890n", "12345678901234567890"],
  ["null", undefined],
  ["undefined", undefined],
  ["NaN", undefined, /NaN counts as none/],
  ["Infinity", undefined, /Infinity counts as none/],
  ["Symbol('s')", undefined, /without a JSON form counts as none/],
  ["() => 1", undefined],
  ["(() => { const o = {}; o.o = o; return o; })()", undefined],
  ["({ toJSON() { throw new Error('no') } })", undefined],
  ["new ObjectId()", "0123456789abcdef01234567", /type ObjectId is taken as its JSON/],
  ["new Date(0)", "1970-01-01T00:00:00.000Z", /type Date is taken/],
  ["new Date(NaN)", undefined],
  ["true", "true", /type boolean is taken/],
  ["[1, 'b']", `[1,"b"]`, /type Array/],
  ["{ a: 1 }", `{"a":1}`, /type Object is/],
  ["new String('boxed')", "boxed"],
  ["new Number(5)", 5],
  ["Buffer.from('b')", `{"type":"Buffer","data":[98]}`],
  ["'x'.repeat(16385)", "sha256:", /is taken as its hash/],
];

describe("what the code of a component sees", () => {
  let sandboxes: Sandboxes;
  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes?.close());

  it("on this and on what it holds are props alone, for code that spreads or lists them: in runs, hooks, options, actions", async () => {
    const expected = [
      SPREAD(["call", "db", "harbor", "http", "word"]),
      `{"$auth":{"token":"t"}}`,
      SPREAD(["$auth"]),
      SPREAD([]),
      SPREAD(["url"]),
      SPREAD(["endpoint", "endpointUrl"]),
      ["t", "hoho", 7, "function", "function", "function"],
    ];
    const call = async (call: CallRequest["call"], event: unknown = {}) => {
      const { emits, error } = await sandboxes.call("k", SPREADS, { ...RUN, call, event, props: PROPS });
      expect(error?.stack, call).to.equal(undefined);
      return emits[0]?.event as unknown;
    };
    for (const one of ["run", "deploy", "sampleEmit"] as const)
      expect(await call(one), one).to.deep.equal(expected);
    const asked = { page: 0, prevContext: {}, query: "" };
    const { options } = (await call("options", { prop: "own", ...asked })) as { options: unknown[] };
    expect(options).to.deep.equal(expected);
    const ofApp = (await call("options", { prop: "berth", ...asked })) as { options: unknown[] };
    expect(ofApp.options).to.deep.equal([SPREAD(["$auth"])]);
    const made = (await call("additionalProps")) as { name: string; default: string }[];
    expect(JSON.parse(made.find(({ name }) => name === "told")?.default ?? "")).to.deep.equal(expected);
    const trigger = { event: {}, context: {} };
    const { value } = (await call("action", trigger)) as { value: unknown[] };
    expect(value).to.deep.equal(expected);
  });

  it("loses no event for the form of an id: it is taken as its JSON or as none, and the log says so once", async () => {
    const code = `class ObjectId { toJSON() { return "0123456789abcdef01234567"; } }
      export default { name: "T", version: "1", run() {
        ${IDS.map(([id], index) => `this.$emit(${index}, { id: ${id} }); this.$emit(${index}, { id: ${id} });`).join("\n")}
      } };`;
    const { emits, logs, error } = await sandboxes.call("ids", bundleOf(code), RUN);
    expect(error?.stack).to.equal(undefined);
    const log = logs.map(({ message }) => message);
    for (const [index, [form, id, said]] of IDS.entries()) {
      const own = emits.filter(({ event }) => event === index).map(({ metadata }) => metadata.id);
      if (typeof id === "string" && id.startsWith("sha256:")) expect(own[0]).to.match(/^sha256:[\da-f]{64}$/);
      else expect(own, form).to.deep.equal([id, id]);
      expect(own[0], form).to.equal(own[1]);
      if (said) expect(log.filter(line => said.test(line)).length, `${form}: ${log}`).to.equal(1);
    }
  });

  it("has set in its db and has emitted by then count alike, however the process ends @long", async () => {
    const ENDS = {
      Timeout: "for (;;);",
      "Out of Memory": "const all = []; for (;;) all.push(new Array(1e5).fill(all.length));",
      Error: "process.exit(3);",
    };
    const small = await openTestSandboxes({
      limits: { ...LIMITS, heapMb: 48, wallMs: 60_000, cpuMs: 60_000 },
    });
    try {
      for (const [code, end] of Object.entries(ENDS)) {
        const bundle =
          bundleOf(`export default { name: "T", version: "1", props: { db: "$.service.db" }, run(event) {
          if (!event.end) return this.db.set("first", 1);
          this.db.set("kept", this.db.get("before")); this.db.set("before"); this.db.set("__proto__", { a: 1 });
          this.$emit("emitted"); this.db.set("cursor", 2);
          ${end}
        } };`);
        const results: { error?: { code: string }; db?: Record<string, unknown>; emits: unknown[] }[] = [];
        const request = { call: "run" as const, props: {}, db: { before: "b", other: true } };
        await small.callBatch(
          code,
          bundle,
          { ...request, events: [{}, { end: true }] },
          {
            startWithinMs: 60_000,
            wallMs: code === "Timeout" ? 4000 : 60_000,
            onResult: (_, result) => results.push(result),
          },
        );
        const [first, ended] = results;
        expect(first?.db, code).to.deep.equal({ before: "b", other: true, first: 1 });
        expect(ended?.error?.code).to.equal(code);
        expect(ended?.emits.length, code).to.equal(1);
        expect(Object.entries(ended?.db ?? {}), code).to.deep.equal(
          Object.entries({ other: true, first: 1, kept: "b", ["__proto__"]: { a: 1 }, cursor: 2 }),
        );
      }
    } finally {
      await small.close();
    }
  });
});

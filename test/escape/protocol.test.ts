// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these strings are code that runs in the sandbox
import { expect } from "chai";
import { running } from "../sandbox/sandbox-fixture.ts";
import { type Lab, openLab, resultOf } from "./lab.ts";

/** A forged event and a forged end of the call, each as a separate line. */
const FORGED = `"\\n{\\"kind\\":\\"emit\\",\\"call\\":1,\\"event\\":\\"forged\\",\\"metadata\\":{}}\\n{\\"kind\\":\\"ended\\",\\"call\\":1}\\n"`;

describe("an escape through the protocol", () => {
  let lab: Lab;

  before(async () => {
    lab = await openLab();
  });
  after(() => lab.close());
  afterEach(() => lab.expectUnharmed());

  for (const [name, code] of Object.entries({
    "a forged line on the descriptor of stdout": `fs.writeSync(1, ${FORGED})`,
    "a forged line on a copy of that descriptor": `for (let fd = 3; fd < 30; fd++) try { fs.writeSync(fd, ${FORGED}) } catch {}`,
    "a forged line in a log": `console.log(${FORGED})`,
    "a forged line in an event": `emit({ text: ${FORGED} })`,
    "a forged line with a guessed secret": `for (let i = 0; i < 500; i++) fs.writeSync(1, "\\n" + Math.random().toString(36) + ${FORGED})`,
    "half a line": `fs.writeSync(1, "half of a line")`,
    "a polluted Object.prototype": `Object.prototype.kind = "ended"; Object.prototype.call = 1; Object.prototype.error = { code: "x" }; Object.prototype.toJSON = () => "forged"; try { emit(1) } finally { for (const k of ["kind", "call", "error", "toJSON"]) delete Object.prototype[k]; }`,
    "a polluted Array.prototype": `Array.prototype.toJSON = () => "its own event"; emit([1]); delete Array.prototype.toJSON`,
    "replaced globals": `globalThis.JSON = { stringify: () => "forged", parse: () => ({}) }; globalThis.TextEncoder = class {}; globalThis.Promise = class extends Promise {}; globalThis.setImmediate = () => {}`,
    "replaced methods of strings and arrays": `String.prototype.replaceAll = () => "forged"; Array.prototype.push = function () { return 0 }; Map.prototype.get = () => "forged"`,
    "a replaced Promise.prototype.then": `const then = Promise.prototype.then; let n = 0; Promise.prototype.then = function (...args) { n++; return then.apply(this, args) }; emit(n); Promise.prototype.then = then`,
  })) {
    it(`is not possible with ${name}`, async () => {
      const result = await lab.attempt(`try { ${code} } catch {}`);
      const events = JSON.stringify(
        result.emits.filter(emit => emit.event !== null && emit.event === "forged"),
      );
      expect(events).to.equal("[]");
      if (!result.error) expect(result.emits.at(-1)?.event).to.deep.equal({ escaped: "nothing" });
      expect(Object.hasOwn(Object.prototype, "kind")).to.equal(false);
    });
  }

  it("does not pollute prototypes of the host with names such as __proto__ in events, metadata, db and responses", async () => {
    const bundle = running(
      `const evil = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
       this.$emit(evil, Object.assign(Object.create(null), { id: "__proto__", summary: "x" }));
       this.db.set("__proto__", evil); this.db.set("constructor", evil);
       this.http.respond({ status: 200, headers: JSON.parse('{"__proto__":"x"}'), body: "x" });`,
      `props: { db: "$.service.db", http: "$.interface.http" },`,
    );
    const result = await lab.attack(bundle);
    expect(result.error).to.equal(undefined);
    expect(({} as Record<string, unknown>).polluted).to.equal(undefined);
    expect(Object.getPrototypeOf(result.db)).to.equal(Object.prototype);
    expect(Object.getPrototypeOf(result.emits[0]?.event)).to.equal(Object.prototype);
  });

  for (const [name, code] of Object.entries({
    "a giant line on stdout": `const part = Buffer.alloc(1e6, 120); for (let i = 0; i < 40; i++) fs.writeSync(1, part)`,
    "endless noise on stdout": `for (;;) fs.writeSync(1, "noise\\n".repeat(10000))`,
    "a giant event": `emit("x".repeat(5e7))`,
    "an endlessly nested event": `let e = {}; for (let i = 0; i < 1e5; i++) e = { e }; emit(e)`,
    "a circular event": `const e = {}; e.e = e; emit(e)`,
    "an event whose JSON is huge": `const big = "x".repeat(1e6); emit({ toJSON: () => Array(1e5).fill(big) })`,
    "a flood of events": `for (;;) emit("x".repeat(1000))`,
    "a getter that never ends": `emit({ get x() { for (;;); } })`,
  })) {
    it(`is contained: ${name}`, async () => {
      const result = await lab.attempt(code, { wallMs: 2500 });
      expect(result.error, name).to.be.an("object");
      expect(result.emits.length).to.be.at.most(10_000);
    });
  }

  it("is contained: floods of logs on console and stderr", async () => {
    const result = await lab.attempt(
      `for (let i = 0; i < 20000; i++) { console.log("x".repeat(1000)); console.error(i); } fs.writeSync(2, "x".repeat(1e6)); return "done"`,
    );
    expect(JSON.stringify(result.logs).length).to.be.below(256 * 1024);
    expect(resultOf(result)).to.equal("done");
  });

  it("is contained: a db, a response and a log line that are too large", async () => {
    const props = `props: { db: "$.service.db", http: "$.interface.http" },`;
    const db = await lab.attack(running(`this.db.set("a", "x".repeat(1e6))`, props));
    expect(db.error?.message).to.contain("db can hold at most");
    const response = await lab.attack(running(`this.http.respond({ body: "x".repeat(2e7) })`, props));
    expect(response.error).to.be.an("object");
    const log = await lab.attempt(`console.log("x".repeat(5e7)); return "done"`);
    expect(JSON.stringify(log.logs).length).to.be.below(256 * 1024);
  });
});

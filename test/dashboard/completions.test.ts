import { CompletionContext } from "@codemirror/autocomplete";
import { javascript } from "@codemirror/lang-javascript";
import { EditorState } from "@codemirror/state";
import { expect } from "chai";
import { complete } from "../../dashboard/editor/completions.ts";

const PROPS = `props: { http: "$.interface.http", db: "$.service.db", timer: { type: "$.interface.timer" },
  request: "http_request", city: { type: "string", label: "City" } },
  methods: { rows() {}, async total() {} },`;

/** What is offered at the `|` of a code, in no order. */
function offered(code: string, isAsked = false): string[] | null {
  const at = code.indexOf("|");
  const doc = code.slice(0, at) + code.slice(at + 1);
  const state = EditorState.create({ doc, extensions: [javascript({ typescript: true })] });
  return complete(new CompletionContext(state, at, isAsked))?.options.map(({ label }) => label) ?? null;
}

const inRun = (text: string) => `export default { ${PROPS} async run(event) { ${text} } };`;

describe("completions of a component's code", () => {
  it("offer on `this` what a component has, its own props and its own methods", () => {
    const own = ["$emit", "http", "db", "timer", "request", "city", "rows", "total"];
    expect(offered(inRun("this.|"))).to.have.members(own);
    expect(offered(inRun("const { id } = this.ci|"))).to.have.members(own);
    expect(offered(`export default { run() { this.| } };`)).to.deep.equal(["$emit"]);
  });

  it("offer them while the code is not complete", () => {
    expect(offered(`export default { ${PROPS} run() { this.|`)).to.include.members(["http", "rows"]);
    expect(offered(`export default { props: { a: "string", b: }, run() { this.| } };`)).to.include("a");
  });

  it("offer on a prop what its type has", () => {
    expect(offered(inRun("this.http.|"))).to.deep.equal(["respond", "setSecret", "endpoint", "endpointUrl"]);
    expect(offered(inRun("const last = this.db.g|"))).to.deep.equal(["get", "set"]);
    expect(offered(inRun("this.timer.|"))).to.include("intervalSeconds");
    expect(offered(inRun("await this.request.|"))).to.deep.equal(["execute"]);
    expect(offered(inRun("this.city.|"))).to.equal(null);
    expect(offered(inRun("this.unknown.|"))).to.equal(null);
  });

  it("offer on the event what the interfaces of the component give", () => {
    expect(offered(inRun("event.|"))).to.include.members(["body", "headers", "timestamp"]);
    const timer = `export default { props: { t: "$.interface.timer" }, run(event) { event.| } };`;
    expect(offered(timer)).to.include("interval_seconds").and.not.include("body");
  });

  it("offer types in quotes, and no text that is not one", () => {
    expect(offered(`export default { props: { http: "$.|" } };`)).to.include.members([
      "$.interface.http",
      "$.interface.timer",
      "$.service.db",
    ]);
    expect(offered(`export default { props: { city: { type: "|" } } };`)).to.include("string");
    expect(offered(`export default { name: "|" };`)).to.equal(null);
  });

  it("offer what an action has on $", () => {
    const action = (text: string) => `export default { type: "action", run({ steps, $ }) { ${text} } };`;
    expect(offered(action("$.|"))).to.include.members(["$.export", "$.flow.exit"]);
    expect(offered(action("$.flow.|"))).to.include("$.flow.exit");
    expect(offered(action("a.$.|"))).to.equal(null);
  });

  it("offer the keys of a component, of a prop, of hooks and of what is emitted, where a key may stand", () => {
    expect(offered("export default { na| };")).to.include.members(["name", "run", "hooks"]);
    expect(offered("module.exports = { name: 'a', ver| };")).to.include("version");
    expect(offered("export default defineComponent({ |});", true)).to.include("props");
    expect(offered(`export default { props: { city: { type: "string", op| } } };`)).to.include("optional");
    expect(offered("export default { hooks: { de| } };")).to.have.members([
      "deploy",
      "activate",
      "deactivate",
    ]);
    expect(offered(inRun("this.$emit(event, { su| });"))).to.have.members(["id", "summary", "name", "ts"]);
    expect(offered(inRun("this.http.respond({ st| });"))).to.include("status");
  });

  it("offer none elsewhere: in blocks, lists, values and objects of the author's", () => {
    for (const text of ["na|", "const a = { na| };", "call({ na| });", "this.$emit({ na| });", "[1, na|];"]) {
      expect(offered(inRun(text)), text).to.equal(null);
    }
    expect(offered("export default { name: na| };")).to.equal(null);
    expect(offered("export default { | };"), "not before it is asked").to.equal(null);
  });
});

import { expect } from "chai";
import { AppError } from "../../src/lib/errors.ts";
import { parseRunItem, type RunItem } from "../../src/queues/run-item.ts";

const triggered = { kind: "http", run_id: "run_1", at_ms: 1, event: { any: [1, null] } };
const candidate = {
  component_id: "sc_1",
  component_url: null,
  name: "n",
  name_slug: "n",
  configured_props: "sealed",
  endpoint: null,
  timer: null,
  active: true,
};

describe("what waits in a source's line", () => {
  const taken: Record<string, unknown>[] = [
    triggered,
    { ...triggered, kind: "timer", event: null },
    { ...triggered, kind: "event", hops: 3, reply_to: "p" },
    {
      kind: "change",
      run_id: "r",
      at_ms: 1,
      op: "create",
      emit_on_deploy: false,
      expires_at_ms: 5,
      reply_to: "p",
    },
    { kind: "change", run_id: "r", at_ms: 1, op: "update", candidate },
    { kind: "change", run_id: "r", at_ms: 1, op: "delete" },
    // Of a later version, during an update that rolls.
    { ...triggered, something_new: true },
  ];
  for (const item of taken) {
    it(`is read as it was put there: ${JSON.stringify(item).slice(0, 60)}`, () => {
      expect(parseRunItem(JSON.stringify(item))).to.deep.equal(item as unknown as RunItem);
    });
  }

  const refused: [string, string][] = [
    ["an unknown kind", JSON.stringify({ ...triggered, kind: "magic" })],
    ["no event", JSON.stringify({ kind: "http", run_id: "run_1", at_ms: 1 })],
    ["no run id", JSON.stringify({ ...triggered, run_id: undefined })],
    ["a time that is no number", JSON.stringify({ ...triggered, at_ms: "now" })],
    ["negative hops", JSON.stringify({ ...triggered, hops: -1 })],
    ["an unknown change", JSON.stringify({ kind: "change", run_id: "r", at_ms: 1, op: "rename" })],
    [
      "half a candidate",
      JSON.stringify({ kind: "change", run_id: "r", at_ms: 1, op: "update", candidate: {} }),
    ],
    ["a list", "[]"],
    ["nothing", "null"],
  ];
  for (const [what, text] of refused) {
    it(`is refused with ${what}`, () => {
      expect(() => parseRunItem(text))
        .to.throw(AppError)
        .with.property("code", "invalid");
    });
  }

  it("is refused when it is no JSON, as a failure of its own", () => {
    expect(() => parseRunItem("{")).to.throw(SyntaxError);
  });
});

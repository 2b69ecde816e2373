import { expect } from "chai";
import { AppError } from "../../src/lib/errors.ts";
import { NewerRun, parseRunItem, type RunItem } from "../../src/queues/run-item.ts";

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

describe("an item of a run queue", () => {
  const valid: Record<string, unknown>[] = [
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
    // Written by a later version, during a rolling update.
    { ...triggered, something_new: true },
  ];
  for (const item of valid) {
    it(`is parsed as it was written: ${JSON.stringify(item).slice(0, 60)}`, () => {
      expect(parseRunItem(JSON.stringify(item))).to.deep.equal(item as unknown as RunItem);
    });
  }

  const invalid: [string, string][] = [
    ["no event", JSON.stringify({ kind: "http", run_id: "run_1", at_ms: 1 })],
    ["no run id", JSON.stringify({ ...triggered, run_id: undefined })],
    ["a time that is not a number", JSON.stringify({ ...triggered, at_ms: "now" })],
    ["negative hops", JSON.stringify({ ...triggered, hops: -1 })],
    ["an unknown change", JSON.stringify({ kind: "change", run_id: "r", at_ms: 1, op: "rename" })],
    [
      "an incomplete candidate",
      JSON.stringify({ kind: "change", run_id: "r", at_ms: 1, op: "update", candidate: {} }),
    ],
    ["a list", "[]"],
    ["nothing", "null"],
  ];
  for (const [what, text] of invalid) {
    it(`is rejected as invalid: ${what}`, () => {
      expect(() => parseRunItem(text))
        .to.throw(AppError)
        .with.property("code", "invalid");
    });
  }

  for (const newer of [
    { ...triggered, kind: "magic" },
    { ...triggered, v: 3 },
  ]) {
    it(`waits for a newer release: ${newer.kind}, version ${"v" in newer ? newer.v : 1}`, () => {
      expect(() => parseRunItem(JSON.stringify(newer)))
        .to.throw(NewerRun)
        .with.property("code", "unavailable");
    });
  }

  it("throws SyntaxError if it is not JSON", () => {
    expect(() => parseRunItem("{")).to.throw(SyntaxError);
  });
});

import { expect } from "chai";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { rejection } from "../components/rejection.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { type Case, checkCase, openFixture } from "./fixture.ts";

const call = "action" as const;
const trigger = (event: unknown, context = {}) => ({ event, context });
const UNAVAILABLE: [event: string, message: RegExp][] = [
  ["suspend", /^\$\.flow\.suspend can't be used: an action runs once/],
  ["respond", /^\$\.respond can't be used: no HTTP request/],
  ["send", /^\$\.send\.http can't be used/],
  ["emit", /^\$emit can't be used: an action emits no events/],
];

const CASES: Case[] = [
  {
    rule: "an action has a run function and needs nothing else",
    file: "action/minimal.mjs",
    described: { type: "action", hasRun: true, props: [] },
    steps: [{ call, event: trigger({}), emits: [{ name: "$summary", value: "done" }] }],
  },
  {
    rule: "run gets steps.trigger and $, has props and methods on this, and its exports and its return value are kept",
    file: "action/exports.mjs",
    configured: { greeting: "ahoy" },
    steps: [
      {
        call,
        event: trigger({ name: "Ada", numbers: [1, 2] }, { id: "dlv_1" }),
        emits: [
          { name: "greeted", value: "ahoy Ada" },
          { name: "deep", value: { context: true, id: "dlv_1" } },
          { name: "$summary", value: "Greeted Ada" },
          { value: 3 },
        ],
        logs: [["info", "for Ada"]],
      },
    ],
  },
  {
    rule: "what was exported before an error is kept, and the error names the file and line",
    file: "action/exports.mjs",
    steps: [
      {
        call,
        event: trigger({ name: "Ada", fail: true }, { id: "dlv_1" }),
        emits: [
          { name: "greeted", value: "hello Ada" },
          { name: "deep", value: { context: true, id: "dlv_1" } },
        ],
        error: { code: "RangeError", message: /^no Ada$/, stack: /exports\.mjs:18:27/ },
      },
    ],
  },
  {
    rule: "$.flow.exit ends an action successfully, also if its code wraps what that throws",
    file: "action/flow.mjs",
    steps: ["exit", "caught"].map(event => ({
      call,
      event: trigger(event),
      emits: [{ name: "before", value: true }],
    })),
  },
  {
    rule: "what only a workflow has throws an error that says so",
    file: "action/flow.mjs",
    steps: UNAVAILABLE.map(([event, message]) => ({
      call,
      event: trigger(event),
      emits: [{ name: "before", value: true }],
      error: { code: "Error", message },
    })),
  },
  {
    rule: "an app prop has its $auth",
    file: "action/harbour-note.mjs",
    configured: { harbor: { $auth: { token: "t0ken" } }, note: "n" },
    steps: [{ call, event: trigger({}), emits: [{ value: { keys: ["token"], note: "n" } }] }],
  },
];

describe("compatibility: actions", () => {
  let sandboxes: Sandboxes;
  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes?.close());

  for (const one of CASES) it(`${one.rule} (${one.file})`, () => checkCase(sandboxes, one));

  it("an export that is no JSON, too long or too deep becomes a text, and after 50 none is kept (action/odd-exports.mjs)", async () => {
    const { emits, error } = await (await openFixture(sandboxes, "action/odd-exports.mjs")).call(
      "action",
      trigger({}),
    );
    expect(error).to.equal(undefined);
    const exported = emits.map(({ event }) => event as { name?: string; value: unknown });
    expect(exported.slice(0, 3)).to.deep.equal([
      { name: "nothing", value: null },
      { name: "circle", value: "(a object, which has no JSON form)" },
      { name: "function", value: "(a function, which has no JSON form)" },
    ]);
    expect(exported[3]?.value).to.equal("x".repeat(4096));
    expect(exported[4]?.value).to.match(/^\{"deep":\{"deep":/);
    expect(exported.slice(50)).to.deep.equal([{ value: "(a bigint, which has no JSON form)" }]);
  });

  it("what only a source has is rejected by name (action/for-sources.mjs)", async () => {
    const error = await rejection(openFixture(sandboxes, "action/for-sources.mjs"));
    expect(error.fields.map(({ path }) => path)).to.deep.equal([
      "run",
      "hooks.deploy",
      "props.timer",
      "props.http",
    ]);
    expect(error.message).to.include(
      "props.timer: $.interface.timer is for sources; an action can't have it",
    );
  });
});

// runs-long: npm test has test/compatibility/saving.test.ts and test/runs
import { expect } from "chai";
import { errorEvent } from "../../src/runs/emissions.ts";
import type { CallError } from "../../src/sandbox/protocol.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { rejection } from "../components/rejection.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { LIMITS, openTestSandboxes as openSandboxes } from "../sandbox/sandbox-fixture.ts";
import { type Case, checkCase, openFixture } from "./fixture.ts";

const CASES: Case[] = [
  {
    rule: "a stack names the component's own files and lines, also across several files",
    file: "limits/deep-throw.mjs",
    steps: [
      {
        event: { value: 7 },
        error: {
          code: "TypeError",
          message: /^can't parse 7$/,
          stack:
            /^TypeError: can't parse 7\n.*parser\.mjs:4:9.*\n.*parser\.mjs:8:10.*\n.*deep-throw\.mjs:8:5/,
        },
      },
    ],
  },
  {
    rule: "a stack names the lines of TypeScript code",
    file: "limits/typed-throw.ts",
    steps: [
      {
        event: { value: "v" },
        error: { code: "RangeError", message: /^v$/, stack: /typed-throw\.ts:10:11/ },
      },
    ],
  },
  {
    rule: "a ConfigurationError of @pipedream/platform has this name as its code",
    file: "limits/configuration.mjs",
    steps: [
      {
        error: {
          code: "ConfigurationError",
          message: /^The token lacks the scope read:tides$/,
          stack: /configuration\.mjs:7:11/,
        },
      },
    ],
  },
  {
    rule: "the output of console is in $logs, formatted and with its level",
    file: "limits/talkative.mjs",
    steps: [
      {
        emits: ["done"],
        logs: [
          ["info", "level is 3 { deep: [ 1 ] }"],
          ["warn", "careful"],
          ["error", "shown"],
          ["debug", "detail"],
          ["info", "note"],
        ],
      },
    ],
  },
];

describe("compatibility: errors, logs, limits", () => {
  let sandboxes: Sandboxes;

  before(async () => {
    sandboxes = await openTestSandboxes();
  });
  after(() => sandboxes?.close());

  for (const one of CASES) it(`${one.rule} (${one.file})`, () => checkCase(sandboxes, one));

  it("$errors contains the original event, its context, and the error (limits/deep-throw.mjs)", async () => {
    const { call } = await openFixture(sandboxes, "limits/deep-throw.mjs");
    const { error } = await call("run", { value: 7 });
    const source = { _id: "dc_x", owner_id: "u_x", component_id: "sc_x" };
    const cause = { run_id: "run_x", kind: "http", at_ms: 1_700_000_000_000, event: { value: 7 } };
    const platform = { config: { version: "9.9.9" } } as Parameters<typeof errorEvent>[3];
    const ts = "2023-11-14T22:13:20.000Z";
    expect(errorEvent(source, cause, error as CallError, platform)).to.deep.equal({
      original_event: { value: 7 },
      original_context: {
        id: "run_x",
        ts,
        workflow_id: null,
        deployment_id: null,
        source_type: "http",
        verified: false,
        owner_id: "u_x",
        platform_version: "9.9.9",
      },
      error: { code: "TypeError", message: "can't parse 7", cellId: "sc_x", ts, stack: error?.stack },
    });
  });

  it("logs are truncated at 64 KB a run, and say so (limits/talkative.mjs)", async () => {
    const { call } = await openFixture(sandboxes, "limits/talkative.mjs");
    const { logs } = await call("run", {});
    expect(logs.reduce((sum, { message }) => sum + message.length, 0)).to.be.lessThan(64 * 1024);
    expect(logs.at(-1)).to.include({
      level: "warn",
      message: "The logs are truncated here: a run can log at most 64 KB",
    });
  });

  it("a run that waits or computes for too long fails with Timeout (limits/endless.mjs)", async () => {
    const small = await openSandboxes({ limits: { ...LIMITS, wallMs: 1500 } });
    try {
      const { call } = await openFixture(small, "limits/endless.mjs");
      for (const spin of [false, true]) {
        const { error, emits } = await call("run", { spin });
        expect([error?.code, emits.length], `spin: ${spin}`).to.deep.equal(["Timeout", 1]);
      }
    } finally {
      await small.close();
    }
  });

  it("a run that uses too much memory fails with Out of Memory (limits/hungry.mjs)", async () => {
    const small = await openSandboxes({ limits: { ...LIMITS, heapMb: 48, wallMs: 30_000 } });
    try {
      const { call } = await openFixture(small, "limits/hungry.mjs");
      expect((await call("run", {})).error?.code).to.equal("Out of Memory");
    } finally {
      await small.close();
    }
  });

  it("a prop value can have at most 64 KB (shape/flat-this.mjs)", async () => {
    const word = (bytes: number) => ({ word: "x".repeat(bytes - 2) });
    const { description } = await openFixture(sandboxes, "shape/flat-this.mjs", word(64 * 1024));
    expect(description.name).to.equal("Flat this");
    const error = await rejection(openFixture(sandboxes, "shape/flat-this.mjs", word(64 * 1024 + 1)));
    expect(error.fields).to.deep.equal([
      { in: "body", path: "configured_props.word", message: "must be at most 64 KB" },
    ]);
  });
});

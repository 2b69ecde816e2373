import { expect } from "chai";
import {
  callCreateHooks,
  callHook,
  callUpdateHooks,
  type Hook,
  newHookEffects,
  type SourceVersion,
} from "../../src/runs/hooks.ts";
import { emptyMemory } from "../../src/runs/memory.ts";
import type { CallError } from "../../src/sandbox/protocol.ts";

describe("hooks", () => {
  const failure: CallError = { code: "Error", message: "on purpose", stack: "" };
  let calls: string[];
  beforeEach(() => {
    calls = [];
  });

  /** A version whose hooks add their name to `db.calls` and emit it; those named in `failing` fail as well. */
  function version(name: string, options: { hooks?: Hook[]; failing?: Hook[] } = {}): SourceVersion {
    const { hooks = ["deploy", "activate", "deactivate"], failing = [] } = options;
    return {
      description: { hooks, dedupe: "unique" },
      async execute(hook, db) {
        calls.push(`${name} ${hook}`);
        return {
          ...(failing.includes(hook) && { error: failure }),
          emits: [{ event: hook, metadata: { id: hook } }],
          logs: [],
          db: { calls: [...((db.calls as string[]) ?? []), hook] },
          durationMs: 1,
          cpuMs: 1,
          memoryBytes: 1,
        };
      },
    };
  }

  it("of a new source are deploy, then activate with the memory that deploy left", async () => {
    const effects = newHookEffects(emptyMemory());
    expect(await callCreateHooks(version("new"), effects)).to.equal(null);
    expect(calls).to.deep.equal(["new deploy", "new activate"]);
    expect(effects.emits.map(({ event }) => event)).to.deep.equal(["deploy", "activate"]);
    expect(effects.memory.db).to.deep.equal({ calls: ["deploy", "activate"] });
    expect(effects.memory.dedupe).to.deep.equal({ unique: ["deploy", "activate"] });
    expect(effects).to.include({ isMemoryChanged: true, deduped: 0, durationMs: 2 });
  });

  it("of a new source end with the first that fails", async () => {
    const failed = await callCreateHooks(
      version("new", { failing: ["deploy"] }),
      newHookEffects(emptyMemory()),
    );
    expect(failed).to.deep.equal({ hook: "deploy", error: failure });
    expect(calls).to.deep.equal(["new deploy"]);
  });

  it("of an update are deactivate of the old version, whose error does not matter, then activate of the new one", async () => {
    const result = await callUpdateHooks(
      version("old", { failing: ["deactivate"] }),
      version("new"),
      emptyMemory(),
    );
    expect(calls).to.deep.equal(["old deactivate", "new activate"]);
    expect(result).to.deep.include({ error: null, deactivateError: failure });
  });

  it("of an update whose activate fails activate the old version again, with the memory from before", async () => {
    const memory = { db: { calls: ["before"] }, dedupe: {}, version: 3 };
    const result = await callUpdateHooks(version("old"), version("new", { failing: ["activate"] }), memory);
    expect(calls).to.deep.equal(["old deactivate", "new activate", "old activate"]);
    if (!result.error) throw new Error("the update must fail");
    expect(result.error).to.equal(failure);
    expect(result.discarded.emits).to.have.length(2);
    expect(result.restored.memory.db).to.deep.equal({ calls: ["before", "activate"] });
    expect(result.restored.emits.map(({ event }) => event)).to.deep.equal(["activate"]);
  });

  it("of an update leave out a version that is not active", async () => {
    await callUpdateHooks(null, version("new"), emptyMemory());
    await callUpdateHooks(version("old"), null, emptyMemory());
    await callUpdateHooks(null, version("failing", { failing: ["activate"] }), emptyMemory());
    expect(calls).to.deep.equal(["new activate", "old deactivate", "failing activate"]);
  });

  it("are not called if the component does not have them", async () => {
    const effects = newHookEffects(emptyMemory());
    expect(await callHook(version("new", { hooks: ["activate"] }), "deactivate", effects)).to.equal(null);
    expect(calls).to.deep.equal([]);
    expect(effects).to.deep.equal(newHookEffects(emptyMemory()));
  });

  it("that emit an id twice have the second event dropped and counted", async () => {
    const effects = newHookEffects(emptyMemory());
    await callHook(version("new"), "activate", effects);
    await callHook(version("new"), "activate", effects);
    expect(effects.emits).to.have.length(1);
    expect(effects.deduped).to.equal(1);
  });
});

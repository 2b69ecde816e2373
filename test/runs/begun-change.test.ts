import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { Sources } from "../../src/models/source.ts";
import type { ChangeItem } from "../../src/queues/run-item.ts";
import { applyChange } from "../../src/runs/apply-change.ts";
import { executeQueuedRuns } from "../../src/runs/handle-job.ts";
import type { BatchRequest } from "../../src/sandbox/protocol.ts";
import { enqueueDeactivation } from "../../src/sources/change.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { sweep } from "../support/sweep.ts";
import { jobOf, resultOf, storeRunnableSource, withSandbox } from "./runnable-source.ts";

/** The hooks that a worker lives to call, the last of which kills it after or before it took effect. */
const KILLED_AT = ["before deactivate", "after deactivate", "before activate", "after activate"];
/** What the next worker finds. */
const FOUND = [
  "in time",
  "too late",
  "too late, with its component deleted",
  "after too many crashes",
  "only by the reconciler",
];

describe("a change whose worker is killed after its hooks began", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  const props = [{ name: "channel", type: "string" }];
  const described = { props, hooks: ["activate" as const, "deactivate" as const] };
  const configured = (channel: string) => platform.secrets.seal(JSON.stringify({ channel }));

  /** The channels that are switched on elsewhere, and a sandbox whose hooks switch them. */
  function outside(...channels: string[]) {
    const on = new Set(channels);
    const sandbox = (killedAt?: string) =>
      withSandbox(platform, ({ call, props: { channel } }: BatchRequest) => {
        if (killedAt === `before ${call}`) throw new Error("killed");
        if (call === "activate") on.add(channel as string);
        else on.delete(channel as string);
        if (killedAt === `after ${call}`) throw new Error("killed");
        return resultOf({ emits: [] });
      });
    return { on, sandbox };
  }

  async function updateOf(source: Awaited<ReturnType<typeof storeRunnableSource>>): Promise<ChangeItem> {
    const { component_id } = await storeRunnableSource(platform, {}, described);
    const { component_url, name, name_slug, endpoint, timer, change_id } = source;
    return {
      kind: "change",
      op: "update",
      run_id: newId("run"),
      at_ms: Date.now(),
      expires_at_ms: Date.now() + 60_000,
      prepared_for: change_id,
      candidate: {
        component_id,
        component_url,
        name,
        name_slug,
        endpoint,
        timer,
        active: true,
        configured_props: configured("new"),
      },
    };
  }
  const options = { signal: new AbortController().signal, hasCrashed: false };

  for (const killedAt of KILLED_AT) {
    for (const found of FOUND) {
      it(`${killedAt}, and which is found ${found}, is finished or undone`, async () => {
        const source = await storeRunnableSource(
          platform,
          { configured_props: configured("old") },
          described,
        );
        const { on, sandbox } = outside("old");
        const item = await updateOf(source);
        const killed = await applyChange(sandbox(killedAt), source._id, item, options).catch(error => error);
        expect(killed.message).to.equal("killed");

        const late = { ...item, expires_at_ms: 0 };
        if (found === "in time") await applyChange(sandbox(), source._id, item, options);
        else if (found === "after too many crashes" || found === "only by the reconciler") {
          if (found === "after too many crashes") {
            await platform.runQueue.pushChange(source._id, JSON.stringify(item), 0);
            for (let crash = 0; crash < 4; crash++) {
              await platform.runQueue.claim(source._id, `crash ${source._id}`, 1000, 1);
            }
          } else {
            const later = { ...platform, clock: () => Date.now() + 3_600_000 };
            expect(await sweep(later, "changes")).to.equal(1);
          }
          await executeQueuedRuns(sandbox(), jobOf(platform, source._id, 0, source._id));
        } else {
          if (found.includes("component deleted"))
            late.candidate = item.candidate && { ...item.candidate, component_id: newId("sc") };
          await applyChange(sandbox(), source._id, late, options);
        }

        const stored = await Sources(platform.mongo).findById(source._id).lean();
        expect(stored?.begun, "begun").to.equal(undefined);
        expect(stored?.active).to.equal(true);
        const { channel } = JSON.parse(platform.secrets.open(stored?.configured_props ?? ""));
        expect(channel).to.equal(found === "in time" ? "new" : "old");
        expect(on.has(channel), `${channel} is on elsewhere`).to.equal(true);
        // What only the lost worker knew of the new version can't be switched off without it.
        const isUnknown = killedAt === "after activate" && /component deleted|reconciler/.test(found);
        if (!isUnknown) expect([...on]).to.deep.equal([channel]);
      });
    }
  }

  for (const found of [
    "by its own item",
    "after a worker that was killed",
    "only by the reconciler",
    "by an update",
  ]) {
    it(`has the hook called of a source that was switched off, found ${found}`, async () => {
      const begun = { run_id: newId("run"), stage: "switched-off" as const, at_ms: Date.now() };
      const off = { configured_props: configured("old"), active: false, begun };
      const source = await storeRunnableSource(platform, off, described);
      const { on, sandbox } = outside("old");
      const item = { kind: "change", op: "deactivate", run_id: begun.run_id, at_ms: begun.at_ms } as const;
      if (found === "by an update") await applyChange(sandbox(), source._id, await updateOf(source), options);
      else {
        if (found.includes("killed")) {
          const killed = await applyChange(sandbox("before deactivate"), source._id, item, options).catch(
            error => error,
          );
          expect(killed.message).to.equal("killed");
        }
        if (found.includes("reconciler")) {
          const later = { ...platform, clock: () => Date.now() + 3_600_000 };
          expect(await sweep(later, "changes")).to.equal(1);
        } else await enqueueDeactivation(platform, source);
        await executeQueuedRuns(sandbox(), jobOf(platform, source._id, 0, source._id));
      }
      const stored = await Sources(platform.mongo).findById(source._id).lean();
      expect(stored?.begun, "begun").to.equal(undefined);
      expect(stored?.active).to.equal(found === "by an update");
      expect([...on]).to.deep.equal(found === "by an update" ? ["new"] : []);
      await applyChange(sandbox(), source._id, item, options);
      expect([...on], "a repeated item").to.deep.equal(found === "by an update" ? ["new"] : []);
    });
  }

  it("is undone if another change came first, so that the stored version is the active one", async () => {
    const source = await storeRunnableSource(platform, { configured_props: configured("old") }, described);
    const { on, sandbox } = outside("old");
    const item = await updateOf(source);
    const racing = sandbox();
    const { sandboxes } = racing;
    racing.sandboxes = async () => {
      await Sources(platform.mongo).updateOne({ _id: source._id }, { $set: { change_id: "ch_other" } });
      return await sandboxes();
    };
    const fields = await applyChange(racing, source._id, item, options);
    expect(fields.outcome).to.equal("stale");
    expect([...on]).to.deep.equal(["old"]);
  });

  it("leaves nothing switched on of a source that was being created, if no request waits for it any longer", async () => {
    const creating = { configured_props: configured("new"), state: "deploying" as const };
    const source = await storeRunnableSource(platform, creating, described);
    const { on, sandbox } = outside();
    const item: ChangeItem = {
      kind: "change",
      op: "create",
      run_id: newId("run"),
      at_ms: 1,
      expires_at_ms: Date.now() + 60_000,
    };
    await applyChange(sandbox("after activate"), source._id, item, options).catch(() => undefined);
    expect([...on]).to.deep.equal(["new"]);
    await applyChange(sandbox(), source._id, { ...item, expires_at_ms: 0 }, options);
    expect([...on]).to.deep.equal([]);
    expect(await Sources(platform.mongo).exists({ _id: source._id })).to.equal(null);
  });
});

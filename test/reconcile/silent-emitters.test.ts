import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { WHOLE } from "../../src/lib/part.ts";
import { Sources } from "../../src/models/source.ts";
import { Workflows } from "../../src/models/workflow.ts";
import { beginSilentEmitterSweep } from "../../src/reconcile/silent-emitters.ts";
import { countDrop, readDrops } from "../../src/store/events/drops.ts";
import { EventArchives, isHere } from "../../src/store/events/event-archive.ts";
import { append } from "../support/event-log.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

const DAY_MS = 86_400_000;

describe("the sweep for silent emitters", () => {
  let platform: TestPlatform;
  beforeEach(async () => {
    platform = await openTestPlatform();
  });
  afterEach(() => platform.destroy());

  async function workflow(): Promise<string> {
    const _id = newId("p");
    await Workflows(platform.mongo).insertOne({ _id, owner_id: "u_1", name: "w", created_at: 0 });
    return _id;
  }
  async function source(state: "ready" | "deleting"): Promise<string> {
    const _id = newId("dc");
    const ids = { owner_id: "u_1", user_id: "u_1", component_id: "sc_1" };
    const texts = { name: "s", name_slug: _id, configured_props: "sealed" };
    const times = { created_at: 0, updated_at: 0 };
    await Sources(platform.mongo).insertOne({ _id, ...ids, ...texts, ...times, active: true, state });
    return _id;
  }
  const emit = (emitterId: string, emitId = "a") =>
    append(platform.eventLog, emitterId, "emits", {
      event: { raw_event: emitId },
      metadata: { emit_id: emitId, name: "", emitter_id: emitterId },
    });
  const isInRedis = async (id: string) =>
    isHere((await platform.redis.get(platform.keys.eventsPlace(id))) ?? "");
  async function pass(silentMs: number): Promise<void> {
    const sweep = beginSilentEmitterSweep(platform, WHOLE, silentMs);
    let cursor: string | null = null;
    do cursor = (await sweep(cursor)).next;
    while (cursor !== null);
  }

  it("archives sources and workflows that were silent for long, and no others", async () => {
    const silent = [await workflow(), await source("ready")];
    for (const id of silent) await emit(id);
    await pass(DAY_MS);
    expect(await Promise.all(silent.map(isInRedis)), "not yet").to.deep.equal([true, true]);
    await pass(0);
    expect(await Promise.all(silent.map(isInRedis))).to.deep.equal([false, false]);
    const page = await platform.eventLog.page(silent[0] ?? "", "emits", { limit: 10 });
    expect(page.rows.map(({ metadata }) => metadata.emit_id)).to.deep.equal(["a"]);
  });

  it("leaves a source alone that is being deleted, and removes what a deleted one left", async () => {
    const deleting = await source("deleting");
    const deleted = newId("dc", Date.now() - DAY_MS);
    for (const id of [deleting, deleted]) await emit(id);
    await pass(0);
    expect(await isInRedis(deleting)).to.equal(true);
    expect(await EventArchives(platform.mongo).countDocuments()).to.equal(0);
    expect(await platform.redis.exists(platform.keys.eventIds(deleted, "emits"))).to.equal(0);
  });

  it("gives what an older version left its place, and archives it when it was silent for so long again", async () => {
    const [old, dropping] = [await workflow(), await workflow()];
    await emit(old);
    await platform.redis.del(platform.keys.eventsPlace(old));
    await countDrop(platform, dropping, "filtered", 2);
    // Not 0: a later page of the same pass may show the new place, which would be silent at once.
    await pass(DAY_MS);
    expect(await Promise.all([old, dropping].map(isInRedis))).to.deep.equal([true, true]);
    await pass(DAY_MS);
    expect(await isInRedis(old), "not silent for long since").to.equal(true);
    await pass(0);
    expect(await Promise.all([old, dropping].map(isInRedis))).to.deep.equal([false, false]);
    await countDrop(platform, dropping, "filtered");
    await pass(0);
    await pass(0);
    expect(await platform.redis.exists(platform.keys.drops(dropping))).to.equal(0);
    expect(await readDrops(platform, dropping)).to.deep.equal({ filtered: 3 });
  });

  it("finds emitters on every page of the keys", async () => {
    const ids = await Promise.all(Array.from({ length: 400 }, () => workflow()));
    await Promise.all(ids.map(id => emit(id)));
    await pass(0);
    expect(await EventArchives(platform.mongo).countDocuments()).to.equal(400);
    expect(await Promise.all(ids.map(isInRedis))).not.to.include(true);
  });
});

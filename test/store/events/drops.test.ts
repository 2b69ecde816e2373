import { expect } from "chai";
import { newId } from "../../../src/lib/ids.ts";
import { countDrop, readDrops } from "../../../src/store/events/drops.ts";
import { noteDeleted } from "../../../src/store/gone.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";

describe("drop counts", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  it("add up by emitter and reason", async () => {
    const emitter = newId("dc");
    await countDrop(platform, emitter, "filtered", 2);
    await countDrop(platform, emitter, "filtered", 2);
    await countDrop(platform, emitter, "loop");
    expect(await readDrops(platform, emitter)).to.deep.equal({ filtered: 4, loop: 1 });
  });

  it("of a deleted emitter leave no key for ever, also if more is dropped afterwards", async () => {
    const [counted, silent] = [newId("dc"), newId("dc")];
    await countDrop(platform, counted, "filtered", 3);
    for (const emitter of [counted, silent]) {
      await noteDeleted(platform, emitter);
      await platform.eventLog.delete(emitter);
      for (const by of [1, 2]) await countDrop(platform, emitter, "source-inactive", by);
    }
    const { redis } = platform;
    for (const emitter of [counted, silent]) {
      for (const key of "keys" in redis ? await redis.keys(`*${emitter}*`) : []) {
        expect(await redis.ttl(key), key).to.be.above(0);
      }
    }
  });
});

import { totalmem } from "node:os";
import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { warmRoom } from "../../src/sandbox/warm-room.ts";

describe("the room for warm sandboxes", () => {
  it("is a quarter of the memory of the machine or its container, or what the operator gives", () => {
    expect(warmRoom(undefined).bytes).to.be.within(1, (totalmem() * LIMITS.warmMemoryPercent.value) / 100);
    expect(warmRoom(512).bytes).to.equal(512 * 1024 * 1024);
    expect(warmRoom(0).bytes).to.equal(0);
  });

  it("has no more processes than there are user ids, descriptors and threads for", () => {
    expect(warmRoom(1_000_000).processes).to.be.within(0, 900);
  });
});

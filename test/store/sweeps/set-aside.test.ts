import { expect } from "chai";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import { listSetAside, readSetAside, removeSetAside, setAside } from "../../../src/store/sweeps/set-aside.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";

describe("items set aside", () => {
  let platform: TestPlatform;
  let now: number;
  beforeEach(async () => {
    now = Date.now();
    platform = await openTestPlatform({}, { clock: () => now });
  });
  afterEach(() => platform.destroy());

  it("are listed with step, item, error, failures and times, and tried again after ever longer waits", async () => {
    const waits: number[] = [];
    for (let failures = 1; failures <= 9; failures++) {
      await setAside(platform, "outboxes", "run 1", new Error(`failure ${failures}`));
      const [item] = await listSetAside(platform);
      waits.push(((item?.retry_at_ms ?? 0) - now) / 60_000);
      now += 1000;
    }
    expect(waits).to.deep.equal([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    expect(await listSetAside(platform)).to.deep.equal([
      {
        step: "outboxes",
        item: "run 1",
        error: "Error: failure 9",
        count: 9,
        first_at_ms: now - 9000,
        last_at_ms: now - 1000,
        retry_at_ms: now - 1000 + 3_600_000,
      },
    ]);
  });

  it("are read by item, and removed once they are repaired", async () => {
    for (const item of ["a", "b"]) await setAside(platform, "timers", item, new Error("bad"));
    await setAside(platform, "deliveries", "a", new Error("bad"));
    expect([...(await readSetAside(platform, "timers", ["a", "c"])).keys()]).to.deep.equal(["a"]);
    await removeSetAside(platform, "timers", ["a", "c"]);
    expect((await listSetAside(platform)).map(({ step, item }) => `${step} ${item}`)).to.have.members([
      "timers b",
      "deliveries a",
    ]);
  });

  it("show no data of the item", async () => {
    const error = await Promise.resolve()
      .then(() => JSON.parse("secret"))
      .catch((failure: unknown) => failure);
    await setAside(platform, "outboxes", "a", error);
    await setAside(platform, "outboxes", "b", new Error("x".repeat(10_000)));
    const errors = (await listSetAside(platform)).map(item => item.error);
    expect(errors.join()).not.to.contain("secret");
    expect(Math.max(...errors.map(text => text.length))).to.equal(200);
  });

  it("are at most so many, and those that no step meets any more expire", async () => {
    await setAside(platform, "timers", "deleted since", new Error("bad"));
    const filler = Array.from({ length: LIMITS.setAsideItems.value - 1 }, (_, i) => [
      `timers ${i}`,
      "{}",
    ]).flat();
    await platform.redis.hset(platform.keys.setAsideItems(), ...filler);
    await setAside(platform, "timers", "one too many", new Error("bad"));
    expect((await readSetAside(platform, "timers", ["one too many"])).size).to.equal(0);
    now += 2 * 86_400_000;
    await setAside(platform, "timers", "one too many", new Error("bad"));
    const found = await readSetAside(platform, "timers", ["one too many", "deleted since"]);
    expect([...found.keys()]).to.deep.equal(["one too many"]);
  });
});

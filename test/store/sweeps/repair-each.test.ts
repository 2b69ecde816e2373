import { expect } from "chai";
import { AppError } from "../../../src/lib/errors.ts";
import { repairEach } from "../../../src/store/sweeps/repair-each.ts";
import { readSetAside } from "../../../src/store/sweeps/set-aside.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";

const away = () => new AppError("unavailable", "the database can't be reached");

describe("the repair of items", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(async () => {
    await platform.destroy();
  });

  const setAsideOf = async (id: string) => (await readSetAside(platform, "timers", [id])).has(id);

  it("repeats one that failed because a store was away, which is there again: the item is not set aside", async () => {
    let tries = 0;
    const repair = async () => {
      tries += 1;
      if (tries === 1) throw away();
      return true;
    };
    const repaired = await repairEach(platform, ["dc_1"], { step: "timers", idOf: id => id, repair });
    expect({ repaired, tries, isSetAside: await setAsideOf("dc_1") }).to.deep.equal({
      repaired: 1,
      tries: 2,
      isSetAside: false,
    });
  });

  it("sets aside one that says each time that a store is away, while none is", async () => {
    const repair = () => Promise.reject(away());
    await repairEach(platform, ["dc_2"], { step: "timers", idOf: id => id, repair });
    expect(await setAsideOf("dc_2")).to.equal(true);
  });
});

import { expect } from "chai";
import fc from "fast-check";
import { derivedId, firstIdAt, hashedId, isId, newId, timeOfId } from "../../src/lib/ids.ts";

const ms = fc.integer({ min: 0, max: 3_000_000_000_000 });

describe("ids", () => {
  it("have a prefix and 16 URL-safe characters, and are unique", () => {
    const ids = Array.from({ length: 5000 }, () => newId("dc"));
    expect(new Set(ids).size).to.equal(ids.length);
    for (const id of ids) expect(id).to.match(/^dc_[A-Za-z0-9]{16}$/);
  });

  it("sort by their times", () => {
    fc.assert(
      fc.property(ms, ms, (a, b) => {
        fc.pre(a !== b);
        expect(newId("wh", a) < newId("wh", b)).to.equal(a < b);
      }),
    );
  });

  it("contain their time, as UUIDs of version 7 do and other texts do not", () => {
    fc.assert(
      fc.property(ms, fc.string(), (at, tail) => {
        expect(timeOfId(newId("emit", at))).to.equal(at);
        expect(timeOfId(`${derivedId("run", at, tail)}-3`)).to.equal(at);
      }),
    );
    expect(timeOfId("019a0f3c-5b00-7abc-8def-0123456789ab")).to.equal(0x019a0f3c5b00);
    for (const text of ["", "order-1", "emit_short", "3b241101-e2bb-4255-8caf-4136c566a962"]) {
      expect(timeOfId(text), text).to.equal(null);
    }
  });

  it("are equal if derived from the same parts, differ otherwise, and begin with their time", () => {
    fc.assert(
      fc.property(ms, fc.string(), fc.string(), (at, a, b) => {
        const id = derivedId("dlv", at, a, b);
        expect(id).to.equal(derivedId("dlv", at, a, b));
        expect(id).to.not.equal(derivedId("dlv", at, a, `${b}x`));
        expect(id.startsWith(firstIdAt("dlv", at))).to.equal(true);
        expect(isId("dlv", id)).to.equal(true);
      }),
    );
  });

  it("are distinguished from other texts", () => {
    for (const text of [
      "",
      "dc_",
      "dc_short",
      "wh_0000000000000000",
      "dc_000000000000000-",
      "dc_00000000000000000",
    ]) {
      expect(isId("dc", text), text).to.equal(false);
    }
  });

  it("are the same of the same parts, and of no others, whenever they are made", () => {
    const id = hashedId("ms", "a", "b");
    expect(isId("ms", id)).to.equal(true);
    expect(hashedId("ms", "a", "b")).to.equal(id);
    for (const parts of [["ab"], ["a", "b", ""], ["a\nb"], ["b", "a"]])
      expect(hashedId("ms", ...parts)).not.to.equal(id);
  });
});

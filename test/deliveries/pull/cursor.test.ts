import { expect } from "chai";
import { cursorOf, positionIn } from "../../../src/deliveries/pull/cursor.ts";

const ID = "ds_0CjBAEdF3kWq9RtZ";
const listener = { id: ID, last: 7 };

describe("a cursor of a pull", () => {
  it("is a position of one listener", () => {
    for (const position of [0, 1, 7]) expect(positionIn(cursorOf(ID, position), listener)).to.equal(position);
  });

  it("is rejected if the listener has never returned it", () => {
    const text = (plain: string) => Buffer.from(plain).toString("base64url");
    for (const cursor of [
      cursorOf("ds_0CjBAEdF3kWq9RtY", 1),
      cursorOf(ID, 8),
      cursorOf(ID, -1),
      cursorOf(ID, 1.5),
      text(`${ID}.01`),
      text(`${ID}.1 `),
      text(`${ID}.`),
      text(`${ID}.1e0`),
      text(`${ID}.9007199254740993`),
      text(ID),
      `${cursorOf(ID, 1)}A`,
      "1",
      "",
      "ö",
    ]) {
      expect(() => positionIn(cursor, listener), cursor).to.throw("is not a cursor of this listener");
    }
  });
});

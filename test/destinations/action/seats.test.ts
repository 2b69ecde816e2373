import { expect } from "chai";
import { takeSeat } from "../../../src/destinations/action/send.ts";

describe("the seats of an action's runs", () => {
  it("are numbered from the lowest that is free, for each key", () => {
    const [first, second, other] = [takeSeat("a"), takeSeat("a"), takeSeat("b")];
    expect([first.seat, second.seat, other.seat]).to.deep.equal([0, 1, 0]);
    first.leave();
    const again = takeSeat("a");
    expect([again.seat, takeSeat("a").seat]).to.deep.equal([0, 2]);
  });
});

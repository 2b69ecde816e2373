import { expect } from "chai";
import { findKey } from "../../script/lib/first-user.mjs";

describe("the first user's key", () => {
  it("is found in what the command line prints, and only there", () => {
    const key = "hw_abcdefghijklmnopqrstuvwxyz";
    expect(findKey(JSON.stringify({ id: "u_1234567890123456", api_key: key }, null, 2))).to.equal(key);
    expect(findKey(`API key: ${key}\n`)).to.equal(key);
    expect(findKey("headwater: that e-mail address has a user already\n")).to.equal(undefined);
  });
});

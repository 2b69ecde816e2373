import { expect } from "chai";
import { findKey } from "../../script/lib/first-user.mjs";

describe("the API key of the first user", () => {
  it("is found in the output of the command line, and in no other text", () => {
    const key = "hw_abcdefghijklmnopqrstuvwxyz";
    expect(findKey(JSON.stringify({ id: "u_1234567890123456", api_key: key }, null, 2))).to.equal(key);
    expect(findKey(`API key: ${key}\n`)).to.equal(key);
    expect(findKey("headwater: that e-mail address has a user already\n")).to.equal(undefined);
  });
});

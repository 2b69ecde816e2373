import { expect } from "chai";
import type { SigningKey } from "../../src/models/webhook.ts";
import { newSigningKey, OLD_KEYS_KEPT, OVERLAP_MS, rotated } from "../../src/webhooks/signing-keys.ts";

const current = (sealed: string): SigningKey => ({ sealed, expires_at_ms: null });

describe("signing keys", () => {
  it("are whsec_ and the base64 of 32 bytes, and unique", () => {
    const keys = Array.from({ length: 10 }, newSigningKey);
    for (const key of keys) {
      expect(key).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(Buffer.from(key.slice(6), "base64")).to.have.length(32);
    }
    expect(new Set(keys).size).to.equal(10);
  });

  it("expire a day after they were replaced, even if they are rotated again", () => {
    const once = rotated([current("a")], current("b"), 1000);
    expect(once).to.deep.equal([current("b"), { sealed: "a", expires_at_ms: 1000 + OVERLAP_MS }]);
    const twice = rotated(once, current("c"), 2000);
    expect(twice).to.deep.equal([
      current("c"),
      { sealed: "b", expires_at_ms: 2000 + OVERLAP_MS },
      { sealed: "a", expires_at_ms: 1000 + OVERLAP_MS },
    ]);
  });

  it("are removed once expired", () => {
    const once = rotated([current("a")], current("b"), 0);
    expect(rotated(once, current("c"), OVERLAP_MS).map(key => key.sealed)).to.deep.equal(["c", "b"]);
  });

  it("keep the public part of a pair, which says how each signs", () => {
    const pair = { ...current("a"), public_key: "whpk_a" };
    expect(rotated([pair], current("b"), 0)).to.deep.equal([
      current("b"),
      { sealed: "a", public_key: "whpk_a", expires_at_ms: OVERLAP_MS },
    ]);
  });

  it("are limited to the current one and the five newest old ones", () => {
    let keys = [current("k0")];
    for (let index = 1; index <= 9; index++) keys = rotated(keys, current(`k${index}`), index);
    expect(keys).to.have.length(1 + OLD_KEYS_KEPT);
    expect(keys.map(key => key.sealed)).to.deep.equal(["k9", "k8", "k7", "k6", "k5", "k4"]);
  });
});

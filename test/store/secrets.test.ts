import { randomBytes } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { createSecrets } from "../../src/store/secrets.ts";

describe("secrets", () => {
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];

  it("opens a text that it sealed, and the sealed form does not contain the text", () => {
    const secrets = createSecrets([newKey]);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), text => {
        const sealed = secrets.seal(text);
        expect(secrets.open(sealed)).to.equal(Buffer.from(text, "utf8").toString("utf8"));
        if (text.length > 8) expect(sealed).to.not.include(text);
      }),
    );
  });

  it("opens a text that an older key of the list sealed, and seals with the first key", () => {
    const sealed = createSecrets([oldKey]).seal("kept");
    const rotated = createSecrets([newKey, oldKey]);
    expect(rotated.open(sealed)).to.equal("kept");
    expect(createSecrets([newKey]).open(rotated.seal("new"))).to.equal("new");
  });

  it("rejects a text that was sealed under another key, or was changed", () => {
    const secrets = createSecrets([newKey]);
    const sealed = secrets.seal("text");
    const changed = sealed.slice(0, -2) + (sealed.endsWith("AA") ? "BB" : "AA");
    expect(() => secrets.open(changed)).to.throw();
    expect(() => createSecrets([oldKey]).open(sealed)).to.throw(/SECRETS_KEY/);
    expect(() => secrets.open("rubbish")).to.throw();
  });
});

import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { Sessions } from "../../src/ops/sign-in.ts";

const LIFE_MS = LIMITS.boardSessionMs.value;
const [first, second, other] = [randomBytes(32), randomBytes(32), randomBytes(32)] as const;

describe("a session of the board", () => {
  const sessions = new Sessions([first], "password", LIFE_MS);

  it("is verified until it expires, and has an id of its own", () => {
    const [one, two] = [sessions.start(1000), sessions.start(1000)];
    expect(sessions.verify(one, 1000)?.id).to.be.a("string").and.not.equal(sessions.verify(two, 1000)?.id);
    expect(sessions.verify(one, 1000 + LIFE_MS - 1)).to.include({ expiresAtMs: 1000 + LIFE_MS });
    expect(sessions.verify(one, 1000 + LIFE_MS)).to.equal(null);
  });

  it("is not verified if a single character of its token is changed, added or missing", () => {
    const token = sessions.start(1000);
    const forged = [...token].map(
      (char, i) => token.slice(0, i) + (char === "a" ? "b" : "a") + token.slice(i + 1),
    );
    const odd = [
      "",
      ".",
      "..",
      `${token}x`,
      token.slice(0, -1),
      `x${token}`,
      `${token}.`,
      token.toUpperCase(),
    ];
    // The last character has two bits that base64url ignores, so only changes of its other bits count.
    for (const text of [...forged.slice(0, -1), ...odd])
      expect(sessions.verify(text, 1000), text).to.equal(null);
  });

  it("outlives a rotation of SECRETS_KEY, but neither the key's removal nor a new password", () => {
    const token = sessions.start(1000);
    expect(new Sessions([second, first], "password", LIFE_MS).verify(token, 1000)).not.to.equal(null);
    expect(new Sessions([second, other], "password", LIFE_MS).verify(token, 1000)).to.equal(null);
    expect(new Sessions([first], "new password", LIFE_MS).verify(token, 1000)).to.equal(null);
  });
});

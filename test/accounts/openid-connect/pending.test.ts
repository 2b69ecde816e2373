import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { beginPending, openPending } from "../../../src/accounts/openid-connect/pending.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import type { Stores } from "../../../src/platform.ts";
import { createSecrets } from "../../../src/store/secrets.ts";

describe("a sign-in that is with the provider", () => {
  const secrets = createSecrets([randomBytes(32)]);
  let now = Date.UTC(2026, 0, 1);
  const platform = { secrets, clock: () => now } as Stores;
  const challenge = { state: "s".repeat(43), nonce: "n".repeat(43), verifier: "v".repeat(43) };
  const begin = () => beginPending(platform, { challenge, returnTo: "/dashboard" }).sealed;

  it("is kept by its browser as a text that only this server reads, for ten minutes", () => {
    const sealed = begin();
    for (const part of Object.values(challenge)) expect(sealed).not.to.include(part);
    expect(openPending(platform, sealed, challenge.state)).to.deep.include({
      challenge,
      returnTo: "/dashboard",
    });
    now += LIMITS.providerReturnMs.value - 1;
    expect(openPending(platform, sealed, challenge.state)).not.to.equal(null);
    now += 1;
    expect(openPending(platform, sealed, challenge.state)).to.equal(null);
  });

  it("fits into a cookie, however long its page's address is", () => {
    const returnTo = `/dashboard?q=${"%C3%A4".repeat(LIMITS.returnPathCharacters.value / 6)}`;
    const { sealed } = beginPending(platform, { challenge, returnTo });
    expect(sealed.length).to.be.lessThan(3500);
  });

  it("is none with another state, from another server, or from another use of the same key", () => {
    const sealed = begin();
    expect(openPending(platform, sealed, "x".repeat(43))).to.equal(null);
    expect(openPending(platform, sealed, "")).to.equal(null);
    const other = { ...platform, secrets: createSecrets([randomBytes(32)]) };
    expect(openPending(other, sealed, challenge.state)).to.equal(null);
    const secret = JSON.stringify({ challenge, returnTo: "/dashboard", expiresAtMs: now + 1000 });
    for (const text of [
      "",
      "v1",
      sealed.slice(0, -4),
      secrets.seal(secret),
      secrets.seal("null"),
      secrets.seal("x"),
    ]) {
      expect(openPending(platform, text, challenge.state), text.slice(0, 20)).to.equal(null);
    }
  });
});

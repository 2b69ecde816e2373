import { expect } from "chai";
import { withdrawAccess } from "../../src/accounts/openid-connect/find-user.ts";
import { createOwnKey } from "../../src/accounts/own-keys.ts";
import { startSession } from "../../src/accounts/sessions/sessions.ts";
import { createUser } from "../../src/accounts/users.ts";
import { ApiKeys } from "../../src/models/user.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

describe("an API key that is made while its session ends", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform.destroy());

  it("does not outlive the provider's word", async () => {
    for (let round = 0; round < 20; round++) {
      const { id } = await createUser(platform, { email: `racer${round}@example.test` });
      const { session } = await startSession(platform, { userId: id, keyId: null, userAgent: "" });
      const making = Array.from({ length: 20 }, () =>
        createOwnKey(platform, { userId: id, keyId: session._id }, { name: null }, [id]).catch(() => null),
      );
      await Promise.all([withdrawAccess(platform, id), ...making]);
      const left = { user_id: id, ends_with_provider: true as const, revoked_at: null };
      expect(await ApiKeys(platform.mongo).countDocuments(left), `round ${round}`).to.equal(0);
    }
  });
});

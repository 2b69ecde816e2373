import { expect } from "chai";
import { readConfig } from "../../src/config.ts";

const SETTINGS = {
  MONGODB_URL: "mongodb://127.0.0.1:1/none",
  REDIS_URL: "redis://127.0.0.1:1",
  SECRETS_KEY: Buffer.alloc(32).toString("base64"),
  HEADWATER_FAILPOINT: "runs-pushed",
};

/** What it does is seen in test/faults, where processes end themselves at each of these places. */
describe("failpoint", () => {
  it("is heard of in tests alone: no variable makes an installation's process kill itself", () => {
    expect(readConfig(SETTINGS).failpoint).to.equal(undefined);
    expect(readConfig({ ...SETTINGS, NODE_ENV: "production" }).failpoint).to.equal(undefined);
    expect(readConfig({ ...SETTINGS, NODE_ENV: "test" }).failpoint).to.equal("runs-pushed");
  });
});

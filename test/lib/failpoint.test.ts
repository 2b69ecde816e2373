import { expect } from "chai";
import { readConfig } from "../../src/config.ts";

const SETTINGS = {
  MONGODB_URL: "mongodb://127.0.0.1:1/none",
  REDIS_URL: "redis://127.0.0.1:1",
  SECRETS_KEY: Buffer.alloc(32).toString("base64"),
  HEADWATER_FAILPOINT: "runs-pushed",
};

/** test/faults shows what a failpoint does: there processes kill themselves at each of them. */
describe("failpoint", () => {
  it("is read from the environment in tests only, so that no setting kills a process in production", () => {
    expect(readConfig(SETTINGS).failpoint).to.equal(undefined);
    expect(readConfig({ ...SETTINGS, NODE_ENV: "production" }).failpoint).to.equal(undefined);
    expect(readConfig({ ...SETTINGS, NODE_ENV: "test" }).failpoint).to.equal("runs-pushed");
  });
});

import { expect } from "chai";
import mongoose from "mongoose";
import { openMongo } from "../../../src/store/connections/mongo.ts";
import { testConfig } from "../../support/platform.ts";

const { MongoClient } = mongoose.mongo;

/** What the driver keeps of a pool; a timer's period has no public name. */
interface Pool {
  poolState: string;
  minPoolSizeTimer?: { _idleTimeout: number };
}

describe("an idle connection pool to MongoDB", () => {
  it("is looked after each 10 s, and not ten times a second", async () => {
    const mongo = await openMongo(testConfig().mongodbUrl, { producer: true, deadlineMs: 5000 });
    try {
      const { topology } = mongo.getClient() as unknown as {
        topology: { s: { servers: Map<string, { pool: Pool }> } };
      };
      const pools = [...topology.s.servers.values()].map(({ pool }) => pool);
      const ready = pools.filter(({ poolState }) => poolState === "ready");
      expect(ready).to.have.length.of.at.least(1);
      for (const { minPoolSizeTimer } of ready) expect(minPoolSizeTimer?._idleTimeout).to.equal(10_000);
    } finally {
      await mongo.dropDatabase();
      await mongo.close();
    }
  });

  it("can't be given the period as an option, which would replace the patch", () => {
    const options = { minPoolSizeCheckFrequencyMS: 10_000 } as object;
    expect(() => new MongoClient("mongodb://127.0.0.1", options)).to.throw("not supported");
  });
});

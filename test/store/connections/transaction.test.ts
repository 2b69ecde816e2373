import { expect } from "chai";
import mongoose from "mongoose";
import { Workflows } from "../../../src/models/workflow.ts";
import { transaction } from "../../../src/store/connections/mongo.ts";
import { rejection } from "../../components/rejection.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { until } from "../../support/until.ts";

describe("a transaction", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
    await Workflows(platform.mongo).insertOne({ _id: "p_1", owner_id: "u_1", name: "flow", created_at: 0 });
  });
  after(() => platform.destroy());

  it("is run again after a conflict with another", async () => {
    const tries = { first: 0, second: 0 };
    const rename = (name: "first" | "second", then: () => Promise<unknown> = async () => {}) =>
      transaction(platform.mongo, async session => {
        tries[name] += 1;
        await Workflows(platform.mongo).updateOne({ _id: "p_1" }, { name }, { session });
        await then();
      });
    let second: Promise<void> | undefined;
    await rename("first", async () => {
      second ??= rename("second");
      await until(() => tries.second > 1);
    });
    await second;
    expect((await Workflows(platform.mongo).findById("p_1").lean())?.name).to.equal("second");
  });

  it("is unavailable if conflicts do not end @long", async () => {
    const conflict = new mongoose.mongo.MongoServerError({ message: "WriteConflict", code: 112 });
    conflict.addErrorLabel("TransientTransactionError");
    const error = await rejection(transaction(platform.mongo, () => Promise.reject(conflict)));
    expect(error.code).to.equal("unavailable");
    expect(error.cause).to.equal(conflict);
  });
});

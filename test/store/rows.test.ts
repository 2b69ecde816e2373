import { expect } from "chai";
import type { Connection } from "mongoose";
import { AutoSubscriptions } from "../../src/models/subscription.ts";
import { openMongo, rowsOf } from "../../src/store/connections/mongo.ts";
import { pageOf } from "../../src/store/page.ts";
import { rejection } from "../components/rejection.ts";
import { type OwnStores, openOwnStores } from "../support/own-stores.ts";

describe("the rows of a query", () => {
  let stores: OwnStores;
  let mongo: Connection;

  before(async () => {
    stores = await openOwnStores();
    mongo = await openMongo(stores.mongo.url, { producer: true, deadlineMs: 10_000 });
  });
  after(async () => {
    await mongo?.close();
    await stores?.close();
  });

  it("are unavailable while MongoDB is away, as any other operation", async () => {
    const query = () => AutoSubscriptions(mongo).find({ owner_id: "u_1" }).lean();
    const readAll = async () => {
      for await (const row of rowsOf(query())) expect(row).to.equal(undefined);
    };
    await readAll();
    await stores.mongo.kill();
    const errors = await Promise.all([
      rejection(query().exec()),
      rejection(readAll()),
      rejection(pageOf(AutoSubscriptions(mongo), { owner_id: "u_1" }, { limit: 10 })),
    ]);
    for (const error of errors) expect(error).to.include({ code: "unavailable" });
  });
});

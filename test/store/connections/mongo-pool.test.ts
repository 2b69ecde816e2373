import { channel } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { expect } from "chai";
import { openMongo } from "../../../src/store/connections/mongo.ts";
import { testConfig } from "../../support/platform.ts";

const opened = channel("net.client.socket");
const MANY = 200;
/** One that watches each server and one that measures its distance. */
const OF_THE_DRIVER = 2;

describe("the connections of a process to MongoDB", () => {
  /** Returns how many it opens for many operations at once. */
  async function openedBy(process: string, url = testConfig().mongodbUrl): Promise<number> {
    const sockets = new Set<Socket>();
    const remember = (message: unknown) => void sockets.add((message as { socket: Socket }).socket);
    opened.subscribe(remember);
    const mongo = await openMongo(url, { producer: false, deadlineMs: 20_000, process });
    try {
      const ask = () => mongo.getClient().db("admin").command({ hello: 1 });
      await Promise.all(Array.from({ length: MANY }, ask));
      return sockets.size;
    } finally {
      opened.unsubscribe(remember);
      await mongo.dropDatabase();
      await mongo.close();
    }
  }

  it("are as many as its role needs, however much it does at once", async () => {
    expect(await openedBy("cli")).to.be.within(2, 5 + OF_THE_DRIVER);
    expect(await openedBy("deliveries")).to.be.within(6, 20 + OF_THE_DRIVER);
    expect(await openedBy("web")).to.be.within(6, 50 + OF_THE_DRIVER);
  });

  it("are as many as the URL allows, if it says so", async () => {
    const url = new URL(testConfig().mongodbUrl);
    url.searchParams.set("maxPoolSize", "1");
    expect(await openedBy("web", url.href)).to.be.at.most(1 + OF_THE_DRIVER);
  });
});

import { channel } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { expect } from "chai";
import type { Connection } from "mongoose";
import { Organizations } from "../../src/models/organization.ts";
import { openMongo } from "../../src/store/mongo.ts";
import { testConfig } from "../support/platform.ts";

const opened = channel("net.client.socket");

describe("a connection to MongoDB that was just lost", () => {
  const sockets = new Set<Socket>();
  const note = (message: unknown) => void sockets.add((message as { socket: Socket }).socket);
  let mongo: Connection;

  before(async () => {
    opened.subscribe(note);
    mongo = await openMongo(testConfig().mongodbUrl, { producer: true, deadlineMs: 5000 });
  });
  after(async () => {
    opened.unsubscribe(note);
    await mongo.dropDatabase();
    await mongo.close();
  });

  for (const [what, work] of Object.entries({
    "a read": () => Organizations(mongo).findOne({ _id: "o_absent" }).lean(),
    "a write": () => Organizations(mongo).deleteOne({ _id: "o_absent" }),
  })) {
    it(`holds ${what} no longer than it takes to open another`, async () => {
      await work();
      // Closed a turn later: until then the driver takes them to be good.
      for (const socket of sockets) socket.destroy();
      expect(await work()).not.to.equal(undefined);
    });
  }
});

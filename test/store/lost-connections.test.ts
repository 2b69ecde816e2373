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
  const remember = (message: unknown) => void sockets.add((message as { socket: Socket }).socket);
  let mongo: Connection;

  before(async () => {
    opened.subscribe(remember);
    mongo = await openMongo(testConfig().mongodbUrl, { producer: true, deadlineMs: 5000 });
  });
  after(async () => {
    opened.unsubscribe(remember);
    await mongo.dropDatabase();
    await mongo.close();
  });

  for (const [what, query] of Object.entries({
    "a read": () => Organizations(mongo).findOne({ _id: "o_absent" }).lean(),
    "a write": () => Organizations(mongo).deleteOne({ _id: "o_absent" }),
  })) {
    it(`delays ${what} only until a new connection is open`, async () => {
      await query();
      // They are closed a moment later: until then the driver takes them to be usable.
      for (const socket of sockets) socket.destroy();
      expect(await query()).not.to.equal(undefined);
    });
  }
});

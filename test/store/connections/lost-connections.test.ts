import { channel } from "node:diagnostics_channel";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import type { Connection } from "mongoose";
import { Organizations } from "../../../src/models/organization.ts";
import { openMongo } from "../../../src/store/connections/mongo.ts";
import { testConfig } from "../../support/platform.ts";
import { until } from "../../support/until.ts";

const opened = channel("net.client.socket");

/** A command that meets the loss ends within milliseconds, if it ends. */
const LATER_MS = 2000;

/** Loses its connections as below, with the driver alone; reports "lost" before it sends a
 * command, "ended" if that ever ends, and "later" once commands that were sent well after it have ended. */
const DRIVER_ALONE = `
  const { createRequire } = require("node:module");
  const { channel } = require("node:diagnostics_channel");
  const { parentPort, workerData } = require("node:worker_threads");
  const sockets = new Set();
  channel("net.client.socket").subscribe(({ socket }) => sockets.add(socket));
  const { MongoClient } = createRequire(workerData.mongoose)("mongodb");
  const client = new MongoClient(workerData.url);
  const ping = () => client.db("admin").command({ ping: 1 });
  ping().then(() => {
    for (const socket of sockets) socket.destroy();
    parentPort.postMessage("lost");
    ping().finally(() => parentPort.postMessage("ended"));
    // Later ones find a connection: one that the loss does not hold would have ended before them.
    setTimeout(() => ping().then(() => ping()).then(() => parentPort.postMessage("later")), ${LATER_MS});
  });`;

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

  it("holds a command for ever with the driver alone: its patch goes when it does not @long", async () => {
    const mongoose = createRequire(import.meta.url).resolve("mongoose");
    const worker = new Worker(DRIVER_ALONE, {
      eval: true,
      workerData: { mongoose, url: testConfig().mongodbUrl },
    });
    const said: string[] = [];
    worker.on("message", word => said.push(word));
    try {
      await until(() => said.includes("later"), { what: "the commands after the loss" });
      expect(said).to.deep.equal(["lost", "later"]);
    } finally {
      await worker.terminate();
    }
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

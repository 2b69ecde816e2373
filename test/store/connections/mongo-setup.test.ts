// runs-long: npm test has test/store/connections/server-versions.test.ts and test/cli/doctor/stores.test.ts

import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import mongoose from "mongoose";
import { ensurePrimary, mongoKind } from "../../../script/lib/mongo.mjs";
import { mongodProgram } from "../../../script/lib/mongod.mjs";
import { SetupError } from "../../../src/lib/errors.ts";
// Declares collections: with none, opening MongoDB would have nothing to do there.
import "../../../src/models/user.ts";
import { openMongo } from "../../../src/store/connections/mongo.ts";
import { TEST_TLS } from "../../egress/test-tls.ts";
import { root } from "../../support/built.ts";
import { type OwnStore, ownServers } from "../../support/own-stores.ts";

const PASSWORD = "hunter2";
const OPTIONS = { producer: false, deadlineMs: 30_000 };
const REPLICA_SET = ["--replSet", "rs0"];

describe("opening MongoDB", () => {
  const servers = ownServers();
  let folder: string;
  let server: OwnStore;
  /** What replaces the options of the next start. */
  let change: (args: string[]) => string[] = args => args;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "hw-mongo-"));
    writeFileSync(join(folder, "pair.pem"), `${TEST_TLS.key}\n${TEST_TLS.cert}\n`);
    writeFileSync(join(folder, "ca.pem"), TEST_TLS.cert);
    writeFileSync(join(folder, "key"), "c2VjcmV0c2VjcmV0", { mode: 0o600 });
    const program = await mongodProgram({ root, say: () => undefined });
    const kindAt = (firstPort: number) => {
      const kind = mongoKind({ program, firstPort, root });
      return { ...kind, args: (given: Parameters<typeof kind.args>[0]) => change(kind.args(given)) };
    };
    change = args => [...args, "--setParameter", "enableTestCommands=1"];
    server = await servers.open(kindAt, { url: port => `mongodb://127.0.0.1:${port}` });
    await ensurePrimary(server.port, root);
  });
  after(async () => {
    await servers.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const urlOf = (query = "", user = "") =>
    `${server.url.replace("//", `//${user}`)}/setup?replicaSet=rs0${query}`;

  /** Returns the message with which a start with this URL is given up. */
  async function faultOf(url: string, more: { warn?: (line: string) => void } = {}): Promise<string> {
    const opening = openMongo(url, { ...OPTIONS, ...more }).then(
      async mongo => {
        await mongo.close();
        return new Error("opened");
      },
      (error: Error) => error,
    );
    const error = await opening;
    expect(error, String(error.stack)).to.be.instanceOf(SetupError);
    expect(error.message).not.to.match(/\n|hunter/);
    return error.message;
  }

  async function admin(command: Record<string, unknown>): Promise<void> {
    const client = new mongoose.mongo.MongoClient(`${server.url}/?directConnection=true`);
    try {
      await client.db("admin").command(command);
    } finally {
      await client.close();
    }
  }

  it("waits for the end of an election that interrupts it", async () => {
    await admin({
      configureFailPoint: "failCommand",
      mode: { times: 3 },
      data: { failCommands: ["createIndexes"], errorCode: 11602 },
    });
    const mongo = await openMongo(urlOf(), OPTIONS);
    expect(await mongo.db?.listCollections().toArray()).not.to.have.length(0);
    await mongo.close();
  });

  it("is given up at once for a URL that can't be read, and shows nothing of it", async () => {
    expect(await faultOf(urlOf("&nope=1"))).to.match(/^MONGODB_URL: .*nope/);
    expect(await faultOf(`mongodb://u:${PASSWORD}@`)).to.match(/^MONGODB_URL: /);
    expect(await faultOf(urlOf("&tls=true&tlsCAFile=/no/such/file"))).to.match(/^MONGODB_URL: ENOENT/);
    expect(await faultOf(urlOf(`&tls=true&tlsCAFile=${folder}`))).to.match(/^MONGODB_URL: EISDIR/);
    expect(await faultOf("mongodb://127.0.0.1:99999/x")).to.match(/^MONGODB_URL: /);
  });

  it("waits for what may pass, and then says what it met, and where", async () => {
    const closing = createServer(socket => socket.end()).listen(0, "127.0.0.1");
    const silent = createServer(() => undefined).listen(0, "127.0.0.1");
    await Promise.all([once(closing, "listening"), once(silent, "listening")]);
    const [closes, says] = [closing, silent].map(one => `127.0.0.1:${(one.address() as AddressInfo).port}`);
    for (const [url, reason] of [
      [
        `mongodb://u:${PASSWORD}@${closes}/x`,
        `${closes} closed the connection: is it a MongoDB server without TLS?`,
      ],
      [
        `mongodb://u:${PASSWORD}@${closes}/x?tls=true`,
        `${closes} closed the connection: is it a MongoDB server with TLS?`,
      ],
      [`mongodb://u:${PASSWORD}@${says}/x`, `${says} did not respond like a MongoDB server`],
      [`mongodb+srv://u:${PASSWORD}@mongo.nowhere.invalid/x`, "querySrv E"],
    ]) {
      const opening = openMongo(url ?? "", { producer: true, deadlineMs: 100 });
      const error = await opening.catch((thrown: Error) => thrown);
      expect(error).to.be.instanceOf(Error).and.not.instanceOf(SetupError);
      expect((error as Error).message)
        .to.include(`MongoDB did not respond (${reason}`)
        .and.not.match(/\n|hunter/);
    }
    closing.close();
    silent.close();
  });

  it("is given up for a replica set of another name", async () => {
    expect(await faultOf(urlOf().replace("rs0", "other"))).to.equal(
      "MONGODB_URL: none of its servers belongs to the replica set other",
    );
  });

  it("is over TLS and with a user, and is given up for a wrong password and an unknown certificate", async () => {
    await admin({ createUser: "worker", pwd: PASSWORD, roles: ["root"] });
    await admin({ createUser: "reader", pwd: PASSWORD, roles: ["readAnyDatabase", "clusterMonitor"] });
    await server.stop();
    change = args => [
      ...args,
      ...["--keyFile", join(folder, "key"), "--tlsMode", "preferTLS"],
      ...["--tlsCertificateKeyFile", join(folder, "pair.pem"), "--tlsCAFile", join(folder, "ca.pem")],
      "--tlsAllowConnectionsWithoutCertificates",
    ];
    await server.start();
    const tls = `&authSource=admin&tls=true&tlsCAFile=${join(folder, "ca.pem")}`;
    const mongo = await openMongo(urlOf(tls, `worker:${PASSWORD}@`), OPTIONS);
    await mongo.close();
    const reader = urlOf(tls, `reader:${PASSWORD}@`);
    expect(await faultOf(reader, { warn: () => undefined })).to.match(
      /^MONGODB_URL: the user lacks permissions/,
    );
    // The command line looks at such an installation.
    await (await openMongo(reader, OPTIONS)).close();
    expect(await faultOf(urlOf(tls, "worker:hunter3@"))).to.equal(
      "MONGODB_URL: MongoDB rejects this user and password",
    );
    expect(await faultOf(urlOf(tls))).to.match(/^MONGODB_URL: the user lacks permissions/);
    expect(await faultOf(urlOf("&authSource=admin&tls=true", `worker:${PASSWORD}@`))).to.match(
      /^MONGODB_URL: the certificate of MongoDB is not trusted/,
    );
  });

  it("is given up for a MongoDB that is not a replica set", async () => {
    await server.stop();
    change = args => {
      const at = args.indexOf("--replSet");
      return args.toSpliced(at, REPLICA_SET.length);
    };
    await server.start();
    expect(await faultOf(`${server.url}/setup`)).to.match(/^MONGODB_URL: MongoDB is not a replica set/);
    expect(await faultOf(urlOf())).to.equal(
      "MONGODB_URL: none of its servers belongs to the replica set rs0",
    );
  });
});

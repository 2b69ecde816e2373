// runs-long: npm test has test/store/server-versions.test.ts and test/cli/doctor/judge-mongodb.test.ts

import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server as NetServer, connect as netConnect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { expect } from "chai";
import mongoose from "mongoose";
import { ensurePrimary, mongoKind } from "../../script/lib/mongo.mjs";
import { mongodProgram } from "../../script/lib/mongod.mjs";
import { checkMongodb } from "../../src/cli/doctor/check-mongodb.ts";
import { SetupError } from "../../src/lib/setup-error.ts";
// Declares collections: with none, opening MongoDB would have nothing to do there.
import "../../src/models/user.ts";
import { openMongo } from "../../src/store/mongo.ts";
import { TEST_TLS } from "../egress/test-tls.ts";
import { root } from "../support/built.ts";
import { type OwnStore, ownServers } from "../support/own-stores.ts";
import { until } from "../support/until.ts";

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
    const begun = performance.now();
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
    expect(performance.now() - begun).to.be.below(10_000);
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
    expect(await faultOf(urlOf(tls))).to.equal(
      "MONGODB_URL: MongoDB requires a user and a password, which the URL does not have",
    );
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

describe("a MongoDB that can't be used", () => {
  const sets = [ownServers(), ownServers(), ownServers()];
  const others: { close(): unknown }[] = [];
  let members: OwnStore[];
  before(async () => {
    const program = await mongodProgram({ root, say: () => undefined });
    const url = (port: number) => `mongodb://127.0.0.1:${port}`;
    members = await Promise.all(
      sets.map(one => one.open(firstPort => mongoKind({ program, firstPort, root }), { url })),
    );
  });
  after(async () => {
    for (const other of others) other.close();
    await Promise.all(sets.map(one => one.close()));
  });

  /** Returns how a start with this URL ends, and after how many milliseconds. */
  async function endOf(url: string, producer = false) {
    const begun = performance.now();
    const error = await openMongo(url, { producer, deadlineMs: 15_000 }).then(
      async mongo => {
        await mongo.close();
        return new Error("opened");
      },
      (thrown: Error) => thrown,
    );
    return { error, ms: performance.now() - begun };
  }

  async function portOf(server: NetServer): Promise<number> {
    others.push(server);
    await once(server.listen(0, "127.0.0.1"), "listening");
    return (server.address() as AddressInfo).port;
  }

  it("is said to lack rs.initiate() within some seconds, to web and workers, and may be started again", async () => {
    const at = `127.0.0.1:${members[0]?.port}`;
    for (const [query, producer] of [
      ["", true],
      ["", false],
      ["?replicaSet=rs0", false],
      ["?directConnection=true", false],
    ] as const) {
      const { error, ms } = await endOf(`mongodb://${at}/x${query}`, producer);
      expect(error.message, query).to.match(
        /^MONGODB_URL: the replica set of .* is not initiated: run rs\.initiate\(\)/,
      );
      expect(error).not.to.be.instanceOf(SetupError);
      expect(ms).to.be.below(10_000);
    }
    const [finding] = await checkMongodb(`mongodb://${at}/x`);
    expect(finding?.message).to.include("rs.initiate()");
  });

  it("is told by what speaks at its port, within some seconds", async () => {
    const http = createHttpServer((_request, response) => response.end("hello"));
    const redis = createServer(socket => socket.on("data", () => socket.write("-ERR unknown command\r\n")));
    const tls = createTlsServer({ key: TEST_TLS.key, cert: TEST_TLS.cert }, socket => socket.end());
    tls.on("tlsClientError", () => undefined);
    const [ofHttp, ofRedis, ofTls] = await Promise.all([http, redis, tls].map(portOf));
    const clear = members[0]?.port;
    for (const [port, query, line] of [
      [ofHttp, "", "is not a MongoDB server: it speaks HTTP"],
      [ofRedis, "", "is not a MongoDB server: it speaks Redis"],
      [ofTls, "", "speaks TLS: add tls=true to the URL"],
      [clear, "?tls=true", "does not speak TLS: the URL must have tls=false"],
    ] as const) {
      const { error, ms } = await endOf(`mongodb://127.0.0.1:${port}/x${query}`);
      expect(error.message).to.equal(`MONGODB_URL: 127.0.0.1:${port} ${line}`);
      expect(error).to.be.instanceOf(SetupError);
      expect(ms).to.be.below(10_000);
    }
  });

  it("is told from a set of which the URL names only a secondary, an arbiter, or no name that is known here", async () => {
    const [first, second, arbiter] = members.map(({ port }) => `127.0.0.1:${port}`);
    const client = new mongoose.mongo.MongoClient(`mongodb://${first}/?directConnection=true`);
    const admin = client.db("admin");
    const set = (hosts: (string | undefined)[], version: number) => ({
      _id: "rs0",
      version,
      members: hosts.map((host, at) => ({
        _id: at,
        host,
        ...(at > 0 && { priority: 0 }),
        arbiterOnly: at === 2,
      })),
      settings: { electionTimeoutMillis: 1000, heartbeatIntervalMillis: 500 },
    });
    try {
      await admin.command({ replSetInitiate: set([first, second, arbiter], 1) });
      await until(async () => (await admin.command({ hello: 1 })).isWritablePrimary);
      for (const [at, line] of [
        [second, "is a secondary, which takes no writes: name all members"],
        [arbiter, "is an arbiter, which stores nothing: name all members"],
      ]) {
        const found = await until(async () => {
          const { error } = await endOf(`mongodb://${at}/x?directConnection=true`);
          return error instanceof SetupError && error;
        });
        expect(found.message).to.include(`MONGODB_URL: ${at} ${line}`);
      }
      expect((await endOf(`mongodb://${second}/x?replicaSet=rs0`)).error.message).to.equal("opened");
      // As through a network that knows the members by names of its own; both have the same length.
      const named = createServer(socket => {
        const inside = netConnect(members[0]?.port ?? 0, "127.0.0.1", () => void socket.pipe(inside));
        inside.on("data", data => {
          socket.write(data.toString("latin1").replaceAll("127.0.0.1:", "x.invalid:"), "latin1");
        });
        for (const end of [socket, inside]) end.on("error", () => undefined);
        socket.on("close", () => inside.destroy());
      });
      const { error } = await endOf(`mongodb://127.0.0.1:${await portOf(named)}/x`, true);
      expect(error.message).to.match(
        /the replica set rs0 calls its members x\.invalid:\d+, .*, which can't be reached from here .*directConnection=true/,
      );
    } finally {
      await client.close();
    }
  });
});

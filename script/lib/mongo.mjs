import { createRequire } from "node:module";
import { join } from "node:path";
import { Complaint } from "./complaint.mjs";
import { within } from "./processes.mjs";
import { isAtLeast, withoutPassword } from "./store-versions.mjs";

const LEAST = "6.0";
const SET = "rs0";
const NOT_YET_INITIALIZED = 94;
const PRIMARY_MS = 30_000;
// A node alone waits this long before it votes for itself under a new address; 10 s is the default.
const SETTINGS = { electionTimeoutMillis: 1000 };

/** How to run MongoDB: one node of a replica set, so that transactions are real, on loopback only. */
export function mongoKind({ program, firstPort, root }) {
  return {
    name: "mongo",
    title: "MongoDB",
    program,
    firstPort,
    dataFlag: "--dbpath",
    args: ({ port, data, pidFile, logFile }) => [
      ...["--dbpath", data, "--port", String(port), "--bind_ip", "127.0.0.1", "--nounixsocket"],
      // Small, as on a laptop: 256 MB is the least cache there is, and the oplog only serves transactions here.
      ...["--replSet", SET, "--wiredTigerCacheSizeGB", "0.25", "--oplogSize", "256"],
      ...["--pidfilepath", pidFile, "--logpath", logFile, "--logappend"],
      // A single node has nobody to hand over to; the default waits up to 15 s on SIGTERM.
      ...["--setParameter", "shutdownTimeoutMillisForSignaledShutdown=100"],
      // A killed worker's open transaction holds its source's rows until then (docs/decisions/0008); by default a minute.
      ...["--setParameter", "transactionLifetimeLimitSeconds=5"],
    ],
    answers: port => withAdmin(urlOf(port), root, admin => admin.command({ ping: 1 })).then(...yesOrNo),
  };
}

const yesOrNo = [() => true, () => false];

function urlOf(port) {
  return `mongodb://127.0.0.1:${port}/?directConnection=true`;
}

/** The driver mongoose brings: none of our own, so that there is one version. */
async function withAdmin(url, root, work, timeoutMs = 1000) {
  const ofProject = createRequire(join(root, "package.json"));
  const { MongoClient } = createRequire(ofProject.resolve("mongoose"))("mongodb");
  const client = new MongoClient(url, { serverSelectionTimeoutMS: timeoutMs });
  try {
    await client.connect();
    return await work(client.db("admin"));
  } finally {
    await client.close();
  }
}

/**
 * Makes the server on this port the primary of its one-node set: initiated the first time, and told its new address
 * when it runs on another port than before. Resolves when it takes writes. Throws Complaint after 30 s.
 */
export async function ensurePrimary(port, root, signal) {
  await withAdmin(
    urlOf(port),
    root,
    async admin => {
      await configureSet(admin, `127.0.0.1:${port}`);
      const isPrimary = async () => (await admin.command({ hello: 1 })).isWritablePrimary === true;
      if (await within(PRIMARY_MS, isPrimary, { signal })) return;
      throw new Complaint(
        "MongoDB did not become primary within 30 s: see its log, or move .data/mongo away",
      );
    },
    5000,
  );
}

async function configureSet(admin, host) {
  let config;
  try {
    ({ config } = await admin.command({ replSetGetConfig: 1 }));
  } catch (error) {
    if (error.code !== NOT_YET_INITIALIZED) throw error;
    await admin.command({ replSetInitiate: { _id: SET, members: [{ _id: 0, host }], settings: SETTINGS } });
    return;
  }
  if (config.members.length === 1 && config.members[0].host === host) return;
  const members = [{ ...config.members[0], host }];
  const settings = { ...config.settings, ...SETTINGS };
  const next = { ...config, members, settings, version: config.version + 1 };
  // By force: under its old address the node is no member of its own set, so there is no primary to ask.
  await admin.command({ replSetReconfig: next, force: true });
}

/** Checks the MongoDB a person configured, before anything is built on it. Throws Complaint. */
export async function checkMongo(url, root) {
  const shown = withoutPassword(url);
  const look = async admin => ({
    hello: await admin.command({ hello: 1 }),
    build: await admin.command({ buildInfo: 1 }),
  });
  let found;
  try {
    found = await withAdmin(url, root, look, 5000);
  } catch (error) {
    throw new Complaint(
      `MONGODB_URL (${shown}) can't be used (${error.message}): start that MongoDB, or unset MONGODB_URL to get one`,
    );
  }
  if (!isAtLeast(found.build.version, LEAST)) {
    throw new Complaint(
      `MONGODB_URL (${shown}) is MongoDB ${found.build.version}: Headwater needs ${LEAST} or newer`,
    );
  }
  if (!found.hello.setName && found.hello.msg !== "isdbgrid") {
    throw new Complaint(
      `MONGODB_URL (${shown}) is no replica set: Headwater needs one, since it uses transactions`,
    );
  }
}

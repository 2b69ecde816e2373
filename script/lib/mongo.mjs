import { createRequire } from "node:module";
import { join } from "node:path";
import { within } from "./processes.mjs";
import { isAtLeast, withoutPassword } from "./store-versions.mjs";
import { UserError } from "./user-error.mjs";

const LEAST = "6.0";
const SET = "rs0";
const NOT_YET_INITIALIZED = 94;
const PRIMARY_MS = 120_000;
// How long a single node waits before it votes for itself under a new address; the default is 10 s.
const SETTINGS = { electionTimeoutMillis: 1000 };

/** Seconds after which a file that is not used is closed. */
const FILE_HANDLES = "file_manager=(close_handle_minimum=100,close_idle_time=10,close_scan_interval=3)";

/** How to run MongoDB: as a replica set of one node, which transactions need, on loopback only. */
export function mongoKind({ program, firstPort, root }) {
  return {
    name: "mongo",
    title: "MongoDB",
    program,
    firstPort,
    dataFlag: "--dbpath",
    args: ({ port, data, pidFile, logFile }) => [
      ...["--dbpath", data, "--port", String(port), "--bind_ip", "127.0.0.1", "--nounixsocket"],
      // Small enough for a laptop: 256 MB is the smallest possible cache, and only transactions need the oplog here.
      ...["--replSet", SET, "--wiredTigerCacheSizeGB", "0.25", "--oplogSize", "256"],
      ...["--pidfilepath", pidFile, "--logpath", logFile, "--logappend"],
      // A single node has no other node to hand over to; by default it waits for one up to 15 s after SIGTERM.
      ...["--setParameter", "shutdownTimeoutMillisForSignaledShutdown=100"],
      // Until then the open transaction of a killed worker locks the rows of its source; the default is a minute.
      // See docs/decisions/0008-stores-that-go-away.md.
      ...["--setParameter", "transactionLifetimeLimitSeconds=5"],
      // Statistics for MongoDB's own support, collected each second: a third of what an idle server costs.
      ...["--setParameter", "diagnosticDataCollectionEnabled=false"],
      // A collection is a file for itself and for each index. Those that were dropped are kept for the history of five
      // minutes by default, and all are kept open: the databases of all tests took 20,000 file descriptors.
      ...["--setParameter", "minSnapshotHistoryWindowInSeconds=10"],
      ...["--wiredTigerEngineConfigString", FILE_HANDLES],
    ],
    isUp: port => withAdmin(urlOf(port), root, admin => admin.command({ ping: 1 })).then(...yesOrNo),
  };
}

const yesOrNo = [() => true, () => false];

function urlOf(port) {
  return `mongodb://127.0.0.1:${port}/?directConnection=true`;
}

/** Uses the driver that mongoose depends on, so that there is one version of it. */
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
 * Makes the server on this port the primary of its replica set of one node: initiates the set the first time, and
 * changes the node's address if the port is a new one. Resolves when the server accepts writes. Throws UserError after
 * PRIMARY_MS.
 */
export async function ensurePrimary(port, root, signal) {
  await withAdmin(
    urlOf(port),
    root,
    async admin => {
      await configureSet(admin, `127.0.0.1:${port}`);
      const isPrimary = async () => (await admin.command({ hello: 1 })).isWritablePrimary === true;
      if (await within(PRIMARY_MS, isPrimary, { signal })) return;
      throw new UserError(
        `MongoDB did not become primary within ${PRIMARY_MS / 1000} s: see mongo.log, or move the folder mongo beside it away`,
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
  // Forced, because under its old address the node is not a member of its own set and there is no primary.
  await admin.command({ replSetReconfig: next, force: true });
}

/** Checks a configured MongoDB before anything uses it: reachable, new enough, a replica set. Throws UserError. */
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
    throw new UserError(
      `MONGODB_URL (${shown}) can't be used (${error.message}): start that MongoDB, or unset MONGODB_URL to get one`,
    );
  }
  if (!isAtLeast(found.build.version, LEAST)) {
    throw new UserError(
      `MONGODB_URL (${shown}) is MongoDB ${found.build.version}: Headwater needs ${LEAST} or newer`,
    );
  }
  if (!found.hello.setName && found.hello.msg !== "isdbgrid") {
    throw new UserError(
      `MONGODB_URL (${shown}) is not a replica set: Headwater needs one, because it uses transactions`,
    );
  }
}

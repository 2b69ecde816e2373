import { createRequire } from "node:module";
import { connect } from "node:net";
import { join } from "node:path";
import { aptInstall, canInstall, disableService } from "./apt.mjs";
import { findProgram, run } from "./commands.mjs";
import { Complaint } from "./complaint.mjs";
import { isAtLeast, withoutPassword } from "./store-versions.mjs";

const LEAST = "6.2";
const INSTEAD = "install Redis 6.2 or newer yourself (package redis-server) or set REDIS_URL";

/** How to run Redis: durable, never evicting (a queue must not lose jobs), on loopback only. */
export function redisKind({ program, firstPort }) {
  return {
    name: "redis",
    title: "Redis",
    program,
    firstPort,
    dataFlag: "--dir",
    args: ({ port, data, pidFile, logFile }) => [
      ...["--dir", data, "--port", String(port), "--bind", "127.0.0.1"],
      ...["--appendonly", "yes", "--save", "", "--maxmemory-policy", "noeviction"],
      ...["--pidfile", pidFile, "--logfile", logFile, "--daemonize", "no"],
      // Keeps the command line as it is: by it a later start knows its own server.
      ...["--set-proc-title", "no"],
    ],
    answers: ping,
  };
}

/** The redis-server program: on the PATH, else installed by apt-get when we may. Throws Complaint. */
export async function redisProgram({ root, say, signal }) {
  let program = findProgram("redis-server");
  if (!program) {
    if (!canInstall()) throw new Complaint(`there is no redis-server on the PATH: ${INSTEAD}`);
    say("Installing Redis (apt-get install redis-server) ...");
    await aptInstall("redis-server", { instead: INSTEAD, logFile: join(root, ".cache/apt.log"), signal });
    await disableService("redis-server", { signal });
    program = findProgram("redis-server", `${process.env.PATH}:/usr/bin:/usr/sbin`);
    if (!program) throw new Complaint(`apt-get installed no redis-server: ${INSTEAD}`);
  }
  const { output } = await run(program, ["--version"], { signal });
  const version = /v=([\d.]+)/.exec(output)?.[1];
  if (!isAtLeast(version, LEAST)) {
    throw new Complaint(`${program} is Redis ${version ?? "of an unknown version"}, too old: ${INSTEAD}`);
  }
  return program;
}

/** Whether a Redis answers there and has loaded its data. */
function ping(port) {
  return new Promise(resolve => {
    const socket = connect({ port, host: "127.0.0.1", timeout: 2000 });
    const end = answer => {
      socket.destroy();
      resolve(answer);
    };
    socket.on("connect", () => socket.write("PING\r\n"));
    socket.on("data", data => end(String(data).startsWith("+PONG")));
    for (const event of ["error", "timeout", "close"]) socket.on(event, () => end(false));
  });
}

/** Checks the Redis a person configured, before anything is built on it. Throws Complaint. */
export async function checkRedis(url, root) {
  const shown = withoutPassword(url);
  // Of a cluster's list the first node speaks for all here; the services test the whole.
  const first = url.split(",")[0].trim();
  if (!/^rediss?:\/\//.test(first))
    throw new Complaint(`REDIS_URL (${shown}) must begin with redis:// or rediss://`);
  const version = await versionOfServer(first, root).catch(error => {
    throw new Complaint(
      `REDIS_URL (${shown}) can't be used (${error.message}): start that Redis, or unset REDIS_URL to get one`,
    );
  });
  if (isAtLeast(version, LEAST)) return;
  throw new Complaint(`REDIS_URL (${shown}) is Redis ${version}: Headwater needs ${LEAST} or newer`);
}

async function versionOfServer(url, root) {
  const { Redis } = createRequire(join(root, "package.json"))("ioredis");
  const client = new Redis(url, { lazyConnect: true, connectTimeout: 5000, retryStrategy: null });
  let reason;
  client.on("error", error => {
    reason = error;
  });
  try {
    await client.connect();
    return /redis_version:([\d.]+)/.exec(await client.info("server"))?.[1];
  } catch (error) {
    // The rejection only says that the connection is closed; the event before it says why.
    throw reason ?? error;
  } finally {
    client.disconnect();
  }
}

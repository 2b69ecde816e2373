import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BASE_IMAGE, makeBaseImage, must } from "./base-image.mjs";
import { lastLine } from "./commands.mjs";
import { imageLabels, labelArguments } from "./image-labels.mjs";
import { packagedProgram } from "./packaged-program.mjs";
import { runScript, UserError } from "./user-error.mjs";

const HELP = `Usage: script/image [--prepare]

Builds deploy/Dockerfile with buildah, without a Docker engine and without a registry of images: Node's official image is
replaced by one that mmdebstrap makes. npm run test:image starts what was built. Needs root on Linux, and buildah, mmdebstrap,
podman and crun; with CI set, apt-get installs them.

  --prepare   makes only what the image is built from, and tries the tools; exit code 0 if this machine can build the image,
              else 1 and a line that says why not`;

/** The name of what is built. */
const IMAGE = "localhost/headwater-test:latest";
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

/** How long CI waits for the tools and the base image, which come over a network. */
const PREPARE_MS = 6 * 60_000;

/** Throws a UserError that says what this machine lacks to build the image and to start it. */
async function checkMachine({ root, signal }) {
  if (process.platform !== "linux" || process.getuid?.() !== 0) {
    throw new UserError("the image can be built here by root on Linux only (see script/image --help)");
  }
  // crun first: podman would bring another runtime with it.
  for (const program of ["crun", "buildah", "mmdebstrap", "podman"]) {
    if (await packagedProgram(program, { root, signal })) continue;
    throw new UserError(`there is no ${program} on the PATH (see script/image --help)`);
  }
}

/** Gets everything that the image is built from, and tries a step of a build. Throws UserError. */
async function prepare({ root, say, signal }) {
  await checkMachine({ root, signal });
  await makeBaseImage({ root, say, signal });
  const container = lastLine(await must("buildah", ["from", "--pull-never", BASE_IMAGE], { root, signal }));
  try {
    await must("buildah", ["run", "--isolation", "chroot", container, "node", "--version"], { root, signal });
  } finally {
    await must("buildah", ["rm", container], { root });
  }
}

/** As `prepare`, but not for longer than PREPARE_MS. Throws UserError. */
async function prepareInTime({ root, say }) {
  const signal = AbortSignal.timeout(PREPARE_MS);
  try {
    await prepare({ root, say, signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new UserError(`the tools and the base image took longer than ${PREPARE_MS / 60_000} minutes`);
  }
}

/** Builds the image. Throws UserError. */
async function buildImage({ root, say, signal }) {
  await prepare({ root, say, signal });
  const folder = join(root, `.cache/image-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    const npmrc = join(folder, "npmrc");
    const setting = async name => lastLine(await must("npm", ["config", "get", name], { root, signal }));
    const lines = [
      ...[`registry=${await setting("registry")}`, `cafile=${CERTIFICATES}`],
      // The packages that this machine has need no network.
      ...["cache=/npm-cache", "prefer-offline=true", "audit=false", "fund=false"],
    ];
    writeFileSync(npmrc, `${lines.join("\n")}\n`, { mode: 0o600 });
    const cache = await setting("cache");
    mkdirSync(cache, { recursive: true });
    say("Building the image (buildah, some minutes) ...");
    const args = [
      ...["build", "--isolation", "chroot", "--layers", "--pull-never", "--format", "docker"],
      ...["--build-arg", `NODE_IMAGE=${BASE_IMAGE}`, "--secret", `id=npmrc,src=${npmrc}`],
      // As on this machine, whose registry may have a certificate of its own.
      ...["--volume", `${CERTIFICATES}:${CERTIFICATES}:ro`, "--volume", `${cache}:/npm-cache`],
      ...labelArguments(await imageLabels(root)),
      ...["--file", join(root, "deploy/Dockerfile"), "--tag", IMAGE, root],
    ];
    await must("buildah", args, { root, signal });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  say(`built ${IMAGE}`);
}

await runScript(async () => {
  if (process.argv.includes("--help")) return console.log(HELP);
  const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
  const given = { root, say: console.log };
  if (process.argv.includes("--prepare")) return await prepareInTime(given);
  await buildImage(given);
});

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BASE_IMAGE, makeBaseImage, must } from "./base-image.mjs";
import { packagedProgram } from "./packaged-program.mjs";
import { runScript, UserError } from "./user-error.mjs";

const HELP = `Usage: script/image [--check]

Builds deploy/Dockerfile with buildah, without a Docker engine and without a registry of images: Node's official image is
replaced by one that mmdebstrap makes. npm run test:image starts what was built. Needs root on Linux, and buildah, mmdebstrap,
podman and crun; with CI set, apt-get installs them.

  --check   builds nothing; exit code 0 if this machine can, else 1 and what it lacks`;

/** The name of what is built. */
const IMAGE = "localhost/headwater-test:latest";
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

/** Throws a UserError that says what this machine lacks to build the image and to start it. */
async function checkMachine({ root }) {
  if (process.platform !== "linux" || process.getuid?.() !== 0) {
    throw new UserError("the image can be built here by root on Linux only (see script/image --help)");
  }
  // crun first: podman would bring another runtime with it.
  for (const program of ["crun", "buildah", "mmdebstrap", "podman"]) {
    if (await packagedProgram(program, { root })) continue;
    throw new UserError(`there is no ${program} on the PATH (see script/image --help)`);
  }
}

/** Builds the image. Throws UserError. */
async function buildImage({ root, say, signal }) {
  await checkMachine({ root });
  await makeBaseImage({ root, say, signal });
  const folder = join(root, `.cache/image-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    const npmrc = join(folder, "npmrc");
    const registry = (await must("npm", ["config", "get", "registry"], { root, signal }))
      .trim()
      .split("\n")
      .at(-1);
    writeFileSync(npmrc, `registry=${registry}\ncafile=${CERTIFICATES}\n`, { mode: 0o600 });
    say("Building the image (buildah, some minutes) ...");
    const args = [
      ...["build", "--isolation", "chroot", "--layers", "--pull-never", "--format", "docker"],
      ...["--build-arg", `NODE_IMAGE=${BASE_IMAGE}`, "--secret", `id=npmrc,src=${npmrc}`],
      // As on this machine, whose registry may have a certificate of its own.
      ...["--volume", `${CERTIFICATES}:${CERTIFICATES}:ro`],
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
  if (process.argv.includes("--check")) return await checkMachine({ root });
  await buildImage({ root, say: console.log });
});

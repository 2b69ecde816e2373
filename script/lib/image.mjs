import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BASE_IMAGE, makeBaseImage, must } from "./base-image.mjs";
import { findProgram } from "./commands.mjs";
import { runScript, UserError } from "./user-error.mjs";

const HELP = `Usage: script/image

Builds deploy/Dockerfile with buildah, without a Docker engine and without a registry of images: Node's official image is
replaced by one that mmdebstrap makes. npm run test:image starts what was built. Needs root, buildah and mmdebstrap, such as
by apt-get install --no-install-recommends buildah mmdebstrap podman crun.`;

/** The name of what is built. */
const IMAGE = "localhost/headwater-test:latest";
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

/** Builds the image. Throws UserError. */
async function buildImage({ root, say, signal }) {
  for (const program of ["buildah", "mmdebstrap"]) {
    if (!findProgram(program)) throw new UserError(`there is no ${program} on the PATH (see script/image --help)`);
  }
  await makeBaseImage({ root, say, signal });
  const folder = join(root, `.cache/image-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    const npmrc = join(folder, "npmrc");
    const registry = (await must("npm", ["config", "get", "registry"], { root, signal })).trim().split("\n").at(-1);
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
  await buildImage({ root, say: console.log });
});

import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { findProgram } from "../../script/lib/commands.mjs";
import { skipBecause } from "../support/skip.ts";
import { deployPath, type Manifest, manifestsIn } from "./files.ts";

/** Whether this machine has kubectl, whose `kustomize` needs no cluster. */
export const hasKubectl = (): boolean => findProgram("kubectl") !== undefined;

/** Skips without kubectl. */
export function needKubectl(context: Mocha.Context): void {
  if (hasKubectl()) return;
  skipBecause(
    context,
    "there is no kubectl on the PATH, and that of Debian 12 is too old to know components",
  );
}

/** Builds a folder of deploy/kubernetes, such as `overlays/small`, or any other one. Throws with the message of kubectl. */
export const build = (folder: string): Manifest[] =>
  manifestsIn(
    execFileSync("kubectl", ["kustomize", resolve(deployPath("kubernetes"), folder)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }),
  );

/** Builds the base with the queues' deployments and other components, as an overlay of an operator's own would. */
export function buildWith(...components: string[]): Manifest[] {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "headwater-kustomize-")));
  try {
    // Kustomize reads no absolute paths.
    const path = (name: string) => relative(folder, deployPath("kubernetes", name));
    const lines = [
      "apiVersion: kustomize.config.k8s.io/v1beta1",
      "kind: Kustomization",
      "namespace: headwater",
      `resources: [${path("base")}]`,
      "components:",
      ...["queues", "pod", ...components].map(name => `  - ${path(`components/${name}`)}`),
    ];
    writeFileSync(join(folder, "kustomization.yaml"), lines.join("\n"));
    return build(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

import { readFileSync } from "node:fs";
import { packageRoot } from "./package-root.ts";

/** The programs that a release needs, with what it uses of them and was tested with. */
export interface Supported {
  title: string;
  /** The oldest version that has what is used. */
  least: string;
  /** The newest major version that the tests ran with: a later one may work. */
  newestMajor: number;
}

/** `engines` in package.json and script/lib/require-node.sh say the same of Node. */
export const SUPPORTED = {
  node: { title: "Node.js", least: "20.19", newestMajor: 26 },
  redis: { title: "Redis", least: "6.2", newestMajor: 7 },
  mongodb: { title: "MongoDB", least: "6.0", newestMajor: 6 },
} as const satisfies Record<string, Supported>;

/** What a version is: too old to start with, as tested, or newer than that. */
export type VersionVerdict = { is: "ok" } | { is: "old" | "untested"; message: string };

/** Judges a version such as `6.0.5`. One that can't be read counts as too old. Pure. */
export function judgeVersion({ title, least, newestMajor }: Supported, version: string): VersionVerdict {
  if (!isAtLeast(version, least)) {
    return {
      is: "old",
      message: `${title} ${version || "of an unknown version"} is too old: install ${least} or newer`,
    };
  }
  if (Number.parseInt(version, 10) <= newestMajor) return { is: "ok" };
  return {
    is: "untested",
    message: `${title} ${version} is newer than ${newestMajor}.x, the newest tested version`,
  };
}

function isAtLeast(version: string, least: string): boolean {
  const have = version.split(".").map(part => Number.parseInt(part, 10) || 0);
  for (const [i, want] of least.split(".").map(Number).entries()) {
    const part = have[i] ?? 0;
    if (part !== want) return part > want;
  }
  return true;
}

/** The version of this build, from package.json. */
export const version: string = JSON.parse(readFileSync(`${packageRoot}package.json`, "utf8")).version;

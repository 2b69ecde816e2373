import { judgeVersion, type Supported } from "../../lib/supported-versions.ts";
import { type Finding, note, ok, problem } from "./finding.ts";

/** Judges the version of Node, Redis or MongoDB, as every process does at its start. Pure. */
export function judgeProgram(supported: Supported, version: string): Finding {
  const { title, least } = supported;
  const verdict = judgeVersion(supported, version);
  if (verdict.is === "ok") return ok(title, `version ${version}`);
  if (verdict.is === "old") {
    return problem(title, `version ${version} is too old`, `install ${title} ${least} or newer`);
  }
  return note(title, verdict.message, "try it on a copy first, or install one that was tested");
}

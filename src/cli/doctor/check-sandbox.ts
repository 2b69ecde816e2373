import type { Platform } from "../../platform.ts";
import { type Finding, note, ok, problem } from "./finding.ts";

const PROBE = { hash: "doctor", code: `export default { name: "Probe", version: "0.0.1", run() {} };` };

/** Starts a sandbox on this machine, and says which of the system's restrictions it has. */
export async function checkSandbox(platform: Pick<Platform, "sandboxes">): Promise<Finding[]> {
  try {
    const sandboxes = await platform.sandboxes();
    await sandboxes.describe(PROBE);
    const { active, missing } = sandboxes.privileges;
    const has = ok(
      "sandbox",
      `can be started here, with ${active.length > 0 ? active.join(", ") : "Deno's own limits only"}`,
    );
    if (missing.length === 0) return [has];
    const advice =
      "run the workers as root on Linux with util-linux (docs/decisions/0010-sandbox-privileges.md)";
    return [has, note("sandbox", `this system lacks: ${missing.join(", ")}`, advice)];
  } catch (error) {
    const { message, cause } = error as Error;
    const reason = cause instanceof Error ? `${message}: ${cause.message}` : message;
    return [
      problem(
        "sandbox",
        reason.replace(/\s+/g, " "),
        "check the disk, the limits of processes and files, and deno",
      ),
    ];
  }
}

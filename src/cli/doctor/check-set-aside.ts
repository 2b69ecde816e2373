import type { Platform } from "../../platform.ts";
import { listSetAside } from "../../store/set-aside.ts";
import { type Finding, ok, problem } from "./finding.ts";

/** Items shown, one line each. */
const MOST = 20;

/** Lists what the reconciler has set aside, because it failed again and again. */
export async function checkSetAside(platform: Pick<Platform, "redis" | "keys">): Promise<Finding[]> {
  const items = await listSetAside(platform);
  if (items.length === 0) return [ok("reconciler", "nothing is set aside")];
  return items
    .slice(0, MOST)
    .map(({ step, item, error, count }) =>
      problem(
        "reconciler",
        `${item} of step ${step} failed ${count} times: ${error.replace(/\s+/g, " ")}`,
        "look for its id in the log of the runs worker; the reconciler tries it again",
      ),
    );
}

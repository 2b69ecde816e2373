import type { Platform } from "../../platform.ts";
import { type Finding, ok, problem } from "./finding.ts";

/** Something that a step of the reconciler could not repair. */
export interface SetAsideItem {
  step: string;
  item: string;
  error: string;
  count: number;
}

export type ListSetAside = (platform: Pick<Platform, "redis" | "keys">) => Promise<SetAsideItem[]>;

/** Items shown, one line each. */
const MOST = 20;

/** Lists what the reconciler has set aside, because it failed again and again. */
export async function checkSetAside(
  platform: Pick<Platform, "redis" | "keys">,
  listSetAside: ListSetAside,
): Promise<Finding[]> {
  const items = await listSetAside(platform);
  if (items.length === 0) return [ok("reconciler", "nothing is set aside")];
  return items
    .slice(0, MOST)
    .map(({ step, item, error, count }) =>
      problem(
        "reconciler",
        `${item} of step ${step} failed ${count} times: ${error.replace(/\s+/g, " ")}`,
        "look for its id in the log of the runs worker; it is tried again by itself",
      ),
    );
}

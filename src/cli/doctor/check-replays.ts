import { Replays } from "../../models/replay.ts";
import type { Platform } from "../../platform.ts";
import { type Finding, ok, problem } from "./finding.ts";

/** Replays shown, one line each. */
const MOST = 20;

/** Lists replays that failed because their job was given up again and again. */
export async function checkReplays({ mongo }: Pick<Platform, "mongo">): Promise<Finding[]> {
  const failed = await Replays(mongo)
    .find({ state: "failed" }, { error: 1 })
    .sort({ _id: -1 })
    .hint("failed_by_id")
    .limit(MOST)
    .lean();
  if (failed.length === 0) return [ok("replays", "none has failed")];
  return failed.map(({ _id, error }) =>
    problem(
      "replays",
      `${_id} failed: ${error?.replace(/\s+/g, " ") ?? "its worker ended in the middle of a batch"}`,
      "look for its id in the log of the deliveries worker; its owner can start it again",
    ),
  );
}

import type { Platform } from "../../platform.ts";

/** What a manual retry changes besides the generation: the delivery is due again, and the retry schedule restarts. */
export function retryFields({ clock, config }: Pick<Platform, "clock" | "config">) {
  const at = clock();
  return {
    state: "pending",
    reason: null,
    retry_index: 0,
    trigger: "manual",
    next_attempt_at_ms: at,
    sweep_at_ms: at + config.sweepEveryMs,
    finished_at_ms: null,
  } as const;
}

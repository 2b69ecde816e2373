import type { Watched } from "./meter.ts";
import type { Target } from "./targets.ts";

/** What is measured: Headwater, or the raw limit beside it. */
export interface Side {
  /** Its processes and those of the stores. */
  watched: Watched[];
  target: Target;
  /** Resolves when all that was accepted is done, records included. */
  whenIdle(): Promise<void>;
}

import type { Watched } from "./meter.ts";
import type { Stores } from "./stores.ts";
import type { Target } from "./targets.ts";

/** What is measured: Headwater, or the raw limit for comparison. */
export interface Side {
  /** Its processes, and the stores. */
  watched: Watched[];
  stores: Stores;
  target: Target;
  /** Resolves once all accepted events are handled and recorded. */
  whenIdle(): Promise<void>;
}

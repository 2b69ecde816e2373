/** How far a component came in one respect: `needs_props` if values are missing that the props file could have. */
export type Result = "ok" | "failed" | "needs_props" | "not_tried";

/** One respect in which a component is examined. */
export interface Step {
  result: Result;
  /** Why it is not `ok`, in one line; for `needs_props` the names of the props. */
  cause?: string;
}

/** What was found about one component. */
export interface Outcome {
  /** Its path, or its address. */
  at: string;
  key: string | null;
  /** Saved: built with its npm packages, and described. */
  described: Step;
  /** Deployed as a source or as an action, with its hooks. */
  deployed: Step;
  /** Run once. */
  ran: Step;
}

/** The respects in their order; after one that is not `ok` the others are not tried. */
export const STEPS = ["described", "deployed", "ran"] as const;
export type StepName = (typeof STEPS)[number];

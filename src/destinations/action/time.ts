import type { Config } from "../../config.ts";
import { LIMITS } from "../../limits/catalogue.ts";

/** Loading the code has time of its own (src/sandbox/wait-until-loaded.ts). */
const LOAD_MS = 30_000;

/** The longest that an attempt of an action can take: its wait for a sandbox, loading, and the run. Milliseconds. */
export const actionMs = ({ sandbox }: Pick<Config, "sandbox">): number =>
  LIMITS.actionWaitMs.value + LOAD_MS + sandbox.runMs;

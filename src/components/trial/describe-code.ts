import { AppError } from "../../lib/errors.ts";
import type { Built } from "./build.ts";
import { buildTrial, inTrial, type TrialDeps } from "./build.ts";
import { type Place, placeInMessage } from "./place.ts";

/** What is wrong with code that can't be saved. */
export interface CodeError extends Place {
  /** Where in the component it is, such as `props.timer.type`; `component_code` for the code as a whole. */
  path: string;
  message: string;
}

/**
 * Describes code without storing it: returns what it is, or everything that is wrong with it. Throws `rate-limited` and
 * `unavailable`, as `saveComponent` does.
 */
export async function describeCode(
  platform: TrialDeps,
  ownerId: string,
  code: string,
): Promise<{ built: Built } | { errors: CodeError[] }> {
  try {
    return { built: await inTrial(ownerId, () => buildTrial(platform, ownerId, code)) };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "invalid") throw error;
    const fields =
      error.fields.length > 0 ? error.fields : [{ path: "component_code", message: error.message }];
    return {
      errors: fields.map(({ path, message }) => ({ path, message, ...placeInMessage(message) })),
    };
  }
}

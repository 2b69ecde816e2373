import { AppError } from "../../lib/errors.ts";
import { inTrial, type TrialBuild, type TrialDeps, withTrialBuild } from "./build.ts";
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
): Promise<{ built: Omit<TrialBuild, "bundle"> } | { errors: CodeError[] }> {
  try {
    return {
      built: await inTrial(ownerId, () =>
        withTrialBuild(platform, ownerId, code, async ({ description, packages }) => ({
          description,
          packages,
        })),
      ),
    };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "invalid") throw error;
    const fields =
      error.fields.length > 0 ? error.fields : [{ path: "component_code", message: error.message }];
    return {
      errors: fields.map(({ path, message }) => ({ path, message, ...placeInMessage(message) })),
    };
  }
}

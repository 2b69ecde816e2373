import { AppError } from "../../lib/errors.ts";
import { type GivenCode, loaderOf, namedFiles } from "../given-files.ts";
import { inTrial, type TrialBuild, type TrialDeps, withTrialBuild } from "./build.ts";
import { type FilePlace, placeInMessage } from "./place.ts";

/** What is wrong with code that can't be saved. */
export interface CodeError extends FilePlace {
  /** Where in the component it is, such as `props.timer.type`; the field of the request for the code as a whole. */
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
  given: GivenCode,
): Promise<{ built: Omit<TrialBuild, "bundle"> } | { errors: CodeError[] }> {
  const loader = loaderOf(platform, given);
  try {
    return {
      built: await inTrial(ownerId, () =>
        withTrialBuild(platform, ownerId, loader, async ({ description, packages }) => ({
          description,
          packages,
        })),
      ),
    };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "invalid") throw error;
    const fields =
      error.fields.length > 0 ? error.fields : [{ path: loader.field.path, message: error.message }];
    const files = namedFiles(loader, given);
    return {
      errors: fields.map(({ path, message }) => ({ path, message, ...placeInMessage(message, files) })),
    };
  }
}

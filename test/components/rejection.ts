import { AppError } from "../../src/lib/errors.ts";

/** The AppError that `work` fails with; anything else fails the test. */
export async function rejection(work: Promise<unknown>): Promise<AppError> {
  const outcome = await work.then(
    () => new Error("it was accepted"),
    (error: unknown) => error,
  );
  if (outcome instanceof AppError) return outcome;
  throw outcome;
}

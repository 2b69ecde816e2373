import { AppError } from "../../src/lib/errors.ts";

/** Returns the AppError with which `work` rejects. Throws if it resolves, or rejects with another error. */
export async function rejection(work: Promise<unknown>): Promise<AppError> {
  const outcome = await work.then(
    () => new Error("expected a rejection"),
    (error: unknown) => error,
  );
  if (outcome instanceof AppError) return outcome;
  throw outcome;
}

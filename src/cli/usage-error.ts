import { AppError } from "../lib/errors.ts";

/** What was typed can't be meant: exit code 2. `message` begins with the option or argument. */
export class UsageError extends AppError {
  constructor(message: string) {
    super("invalid", message);
  }
}

/** An error that the user can fix. Its message is one line that says what is wrong and what to do. */
export class UserError extends Error {}

/**
 * Runs a script's main function and ends the process with the code it resolves to (0 if undefined).
 * A UserError becomes one line on stderr and code 1; anything else is a bug and keeps its stack.
 */
export async function runScript(main) {
  // A closed terminal or `| head` must not keep the script from stopping what it started.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  try {
    process.exit((await main()) ?? 0);
  } catch (error) {
    console.error(error instanceof UserError ? error.message : error);
    process.exit(1);
  }
}

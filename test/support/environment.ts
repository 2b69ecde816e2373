/**
 * Returns a function that gives the environment of this process the variables that it has now. It changes the object and never replaces it:
 * Node reads variables such as TMPDIR from the real environment, so they would stay as they are for every file that runs here later.
 */
export function keepEnvironment(): () => void {
  const given = { ...process.env };
  return () => {
    for (const name of Object.keys(process.env)) if (!Object.hasOwn(given, name)) delete process.env[name];
    Object.assign(process.env, given);
  };
}

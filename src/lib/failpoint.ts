/** The place at which this process ends itself, and how often it still passes there before; tests only. */
let armed: { name: string; passes: number } | undefined;

/**
 * Makes this process kill itself at a place: `name`, or `name:n` for the n-th time it comes by. Tests alone set it, so
 * that a crash between two steps need not be waited for (see `failpoint` in config.ts).
 */
export function armFailpoint(setting: string | undefined): void {
  if (!setting) return;
  const [name = "", passes = "1"] = setting.split(":");
  armed = { name, passes: Number(passes) };
}

/** A place between two steps of which a crash may part the first from the second. Does nothing unless armed. */
export function failpoint(name: string): void {
  if (armed?.name !== name || --armed.passes > 0) return;
  process.kill(process.pid, "SIGKILL");
  // The signal may take a moment to arrive, and nothing more must happen in it.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

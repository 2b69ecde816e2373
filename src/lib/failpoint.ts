/** The point at which this process kills itself, and how often it passes before; tests only. */
let armed: { name: string; passes: number } | undefined;

/**
 * Makes this process kill itself at a failpoint: `name`, or `name:n` for the n-th time it gets there. Only tests set it, to
 * crash a process between two exact steps (see `failpoint` in config.ts).
 */
export function armFailpoint(setting: string | undefined): void {
  if (!setting) return;
  const [name = "", passes = "1"] = setting.split(":");
  armed = { name, passes: Number(passes) };
}

/** Marks a point between two steps where a crash must lose nothing. Does nothing unless armed. */
export function failpoint(name: string): void {
  if (armed?.name !== name || --armed.passes > 0) return;
  process.kill(process.pid, "SIGKILL");
  // The signal may take a moment to arrive, and nothing more must happen until then.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

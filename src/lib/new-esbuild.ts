import type { ChildProcess } from "node:child_process";
import { channel } from "node:diagnostics_channel";
import { createRequire } from "node:module";

/** An instance of esbuild, which has a process of its own from its first call until `stop()`. */
export type Esbuild = typeof import("esbuild");

const require = createRequire(import.meta.url);

/** Of what the command line is made of, only @headwater/cli may lack it: it is eight times as large as all of that package. */
function pathOfEsbuild(): string {
  try {
    return require.resolve("esbuild");
  } catch (error) {
    throw new Error("reading the files of a component needs esbuild: install it beside @headwater/cli", {
      cause: error,
    });
  }
}

/** Loads esbuild and returns a new instance: it starts one process for each evaluation of its module. */
export function newEsbuild(): Esbuild {
  const path = pathOfEsbuild();
  delete require.cache[path];
  return require(path) as Esbuild;
}

/** A new instance whose process is known: how that ended is all that says why a call of it failed. */
export interface StartedEsbuild {
  esbuild: Esbuild;
  child: ChildProcess;
}

/** Node publishes each process here that it starts. */
const started = channel("child_process");

/** Returns a new instance whose process runs. */
export function startEsbuild(): StartedEsbuild {
  const esbuild = newEsbuild();
  let child: ChildProcess | undefined;
  const note = (message: unknown) => {
    child = (message as { process: ChildProcess }).process;
  };
  started.subscribe(note);
  try {
    // It starts the process before it returns.
    void esbuild.initialize({});
  } finally {
    started.unsubscribe(note);
  }
  if (!child) throw new Error("esbuild started no process");
  return { esbuild, child };
}

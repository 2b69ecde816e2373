import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Ends, startEnds, stopOnSignal } from "./ends.ts";
import { type Headwater, startHeadwater } from "./headwater.ts";
import type { Stores } from "./stores.ts";

export interface Started {
  headwater: Headwater;
  ends: Ends;
  /** Output of all processes. */
  logFile: string;
}

const root = fileURLToPath(new URL("..", import.meta.url));

/** Starts Headwater and the two ends of the measurement, calls `work`, and always stops all of them afterwards. */
export async function withHeadwater<Result>(
  options: {
    stores: Stores;
    settings: Record<string, string>;
    profile?: { name: string; file: string };
    nodePath?: string | undefined;
    small?: boolean | undefined;
  },
  work: (started: Started) => Promise<Result>,
): Promise<Result> {
  const logFile = join(root, ".cache/bench/processes.log");
  mkdirSync(dirname(logFile), { recursive: true });
  // Emptied each time, because Headwater logs one line a job.
  writeFileSync(logFile, "");
  const ends = await startEnds(root, logFile);
  const ignoreSignals = stopOnSignal(ends);
  let headwater: Headwater | undefined;
  try {
    headwater = await startHeadwater({ root, logFile, ...options });
    return await work({ headwater, ends, logFile });
  } finally {
    await Promise.all([headwater?.stop(), ends.stop()]);
    ignoreSignals();
  }
}

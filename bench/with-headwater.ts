import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Ends, startEnds, stopOnSignal } from "./ends.ts";
import { type Headwater, startHeadwater } from "./headwater.ts";
import type { Stores } from "./stores.ts";

export interface Started {
  headwater: Headwater;
  ends: Ends;
  /** What all processes write. */
  logFile: string;
}

const root = fileURLToPath(new URL("..", import.meta.url));

/** Starts Headwater and the two ends of the measurement for `work`, and stops all of them whatever becomes of it. */
export async function withHeadwater<Result>(
  given: { stores: Stores; settings: Record<string, string>; profile?: { name: string; file: string } },
  work: (started: Started) => Promise<Result>,
): Promise<Result> {
  const logFile = join(root, ".cache/bench/processes.log");
  mkdirSync(dirname(logFile), { recursive: true });
  // Begun anew each time: Headwater logs a line a job.
  writeFileSync(logFile, "");
  const ends = await startEnds(root, logFile);
  let headwater: Headwater | undefined;
  try {
    stopOnSignal(ends);
    headwater = await startHeadwater({ root, logFile, ...given });
    return await work({ headwater, ends, logFile });
  } finally {
    await Promise.all([headwater?.stop(), ends.stop()]);
  }
}

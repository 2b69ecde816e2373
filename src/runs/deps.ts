import type { Calling, Working } from "../platform.ts";
import type { LateRecords } from "./late-records.ts";

/** What the execution of runs needs of the platform. */
export type RunDeps = Working &
  Calling & {
    /** Absent: every run is recorded before it is acknowledged. */
    late?: LateRecords | undefined;
  };

/** Ids and results for log lines. */
export type LogFields = Record<string, unknown>;

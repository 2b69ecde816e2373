import type { Given, LoadedCode } from "./load.ts";
import type { Local } from "./local.ts";
import type { Printer } from "./print.ts";
import type { Session } from "./session.ts";

export interface DevOptions extends Given {
  /** Of the HTTP interface; 0 for any free one. */
  port: number;
  /** Run once and end. */
  once: boolean;
  /** JSON file with what `run` is given by Enter and by `once`, instead of the timer's event. */
  event?: string | undefined;
  /** CIDRs reachable besides public addresses. */
  allow: readonly string[];
}

/** A component that lives here: what its triggers and the reload share. */
export interface Live {
  code: LoadedCode;
  session: Session;
  printer: Printer;
  options: DevOptions;
  local: Local;
  /** Opens the HTTP port unless it is open. Throws AppError `unavailable` when it is taken. */
  openPort(): Promise<void>;
}

import type { ComponentInput, LoadedCode } from "./load.ts";
import type { LocalServices } from "./local-services.ts";
import type { Printer } from "./print.ts";
import type { Session } from "./session.ts";

export interface DevOptions extends ComponentInput {
  /** Port of the HTTP interface; 0 for any free one. */
  port: number;
  /** Run once and end. */
  once: boolean;
  /** JSON file with the event for Enter and for `once`, instead of the timer's event. */
  event?: string | undefined;
  /** CIDRs that the component may reach besides public addresses. */
  allow: readonly string[];
}

/** The source that `headwater dev` runs: what its triggers and the reload share. */
export interface DevSource {
  /** Replaced by each reload. */
  code: LoadedCode;
  session: Session;
  printer: Printer;
  options: DevOptions;
  services: LocalServices;
  /** Opens the HTTP port unless it is open. Throws AppError `unavailable` if the port is taken. */
  openPort(): Promise<void>;
}

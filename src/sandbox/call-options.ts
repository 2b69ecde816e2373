import type { CallListeners } from "./call-sequence.ts";
import type { HttpResponse } from "./protocol.ts";

export interface CallOptions {
  /** Called at most once, as soon as the component responds to its HTTP request. */
  onRespond?: (response: HttpResponse) => void;
  /** Ends the call with the error code `Cancelled`. */
  signal?: AbortSignal;
  /** Replaces the host's wall-clock limit for this call. */
  wallMs?: number;
  /** The account that owns the source. Processes are shared between accounts; no account can use all of them. */
  owner?: string;
  /**
   * Permits that sources of the same account with the same code use one process, one after the other
   * (docs/decisions/0023-timers-share-processes.md).
   */
  isShareable?: boolean;
}

export interface BatchOptions extends Omit<CallOptions, "onRespond">, CallListeners {
  /** No call starts later than this many milliseconds after the first. */
  startWithinMs: number;
}

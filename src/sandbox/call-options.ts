import type { HttpResponse } from "./protocol.ts";
import type { SeriesControl } from "./series.ts";

export interface CallOptions {
  /** Called once, as soon as the component answers its HTTP request. */
  onRespond?: (response: HttpResponse) => void;
  /** Ends the call with the code `Cancelled`. */
  signal?: AbortSignal;
  /** Instead of the limit for all. */
  wallMs?: number;
  /** The account whose source it is: places are shared out between accounts, and none gets all of them. */
  owner?: string;
}

export interface CallsOptions extends Omit<CallOptions, "onRespond">, SeriesControl {
  /** No call begins later than this many milliseconds after the first. */
  forMs: number;
}

/** How a client reaches its server. */
export interface HeadwaterOptions {
  /** Address of the server, with or without `/v1`: `https://headwater.example.com`. */
  url: string;
  /** An API key, `hw_…`. Without one, a browser's session is used (its cookie goes along with same-origin requests). */
  apiKey?: string;
  /** The organization whose things are listed, created and found; the caller's own by default. */
  orgId?: string;
  /** Used in place of the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** How long one attempt of a request may take. Default: 60 s; 280 s for requests that build a component. */
  timeoutMs?: number;
  /** How often a request is sent again that failed in passing. Default: 2. */
  maxRetries?: number;
  /** A server that asks for a longer wait (`Retry-After`) is not waited for: the call fails. Default: 60 s. */
  maxWaitMs?: number;
}

/** What one call may have besides its input. */
export interface CallOptions {
  /** Ends the call, its waits and its retries. */
  signal?: AbortSignal;
  timeoutMs?: number;
  maxRetries?: number;
  /**
   * Of a POST: the same key within 12 hours gets the first response again. By default each call has a new one, and keeps
   * it over its retries.
   */
  idempotencyKey?: string;
  /**
   * Of an update or a deletion: the `revision` that you have read. If other requests have changed it since, nothing is changed, and
   * the call throws a `PreconditionFailedError`.
   */
  ifMatch?: number;
}

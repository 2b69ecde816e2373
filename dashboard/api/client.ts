import { signal } from "@preact/signals";
import { ApiError, Headwater, HeadwaterError } from "../../clients/typescript/src/index.ts";

export {
  ApiError,
  type CallOptions,
  type Cursor,
  HeadwaterError,
  type List,
  type LiveMessage,
  type Page,
  PreconditionFailedError,
  type Schemas,
  StreamEndedError,
} from "../../clients/typescript/src/index.ts";

/** False while requests fail because the server or a store of it is away; the shell shows a banner then. */
export const isReachable = signal(true);
/** Counts the times that the server came back: what is shown is loaded again. */
export const returns = signal(0);
/** Set by a response 401: the sign-in page is shown in place of the screen. */
export const isSignedOut = signal(false);

const PROBE_MS = 1500;
/** A page that nobody touches asks this often, as long as it is looked at. */
const LOOK_MS = 15_000;

const isReady = (): Promise<boolean> =>
  fetch("/readyz", { cache: "no-store" }).then(
    response => response.ok,
    () => false,
  );

/** Asks until the server is ready again. */
function waitUntilReady(): void {
  setTimeout(async () => {
    if (!(await isReady())) return waitUntilReady();
    isReachable.value = true;
    returns.value += 1;
  }, PROBE_MS);
}

let isProbing = false;

/** Notes whether the server or a store of it is away; the banner follows. */
export async function probe(): Promise<void> {
  if (!isReachable.value || isProbing) return;
  isProbing = true;
  const isAway = !(await isReady());
  isProbing = false;
  if (!isAway) return;
  isReachable.value = false;
  waitUntilReady();
}

setInterval(() => {
  if (!document.hidden) void probe();
}, LOOK_MS);

/** Notes what a response says about the session and, for one that a store away can cause, whether one is. */
function note(status: number): void {
  if (status === 401) isSignedOut.value = true;
  if (status === 0 || status >= 500) void probe();
}

/** Sends a request of the client, and notes what becomes of it. The cookie of the session is sent by the browser. */
async function notingFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(input, init);
    note(response.status);
    return response;
  } catch (error) {
    if (!init?.signal?.aborted) note(0);
    throw error;
  }
}

/** Somebody waits for what a click does: it fails where the server asks for a longer wait. */
const MAX_WAIT_MS = 5000;

/** The client that lists and makes things of an organization, or of the user. */
export const clientOf = (org: string | null): Headwater =>
  new Headwater({
    url: location.origin,
    fetch: notingFetch,
    maxWaitMs: MAX_WAIT_MS,
    ...(org !== null && { orgId: org }),
  });

/** The client for what is known by its id: it finds things of every account that the reader belongs to. */
export const headwater = clientOf(null);

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError && error.code !== "") return error.detail;
  if (error instanceof HeadwaterError) return "The server can't be reached.";
  return error instanceof Error ? error.message : String(error);
}

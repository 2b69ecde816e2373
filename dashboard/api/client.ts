import { signal } from "@preact/signals";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];
type Problem = Schemas["Problem"];

/** A response outside 2xx, or none at all (`status` 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly title: string;
  /** Faults of fields, named by their place: `configured_props.url`. */
  readonly faults: { path: string; message: string }[];

  constructor(status: number, problem: Partial<Problem>) {
    super(problem.detail || problem.title || "The server can't be reached.");
    this.status = status;
    this.title = problem.title ?? "No response";
    this.faults = problem.errors ?? [];
  }
}

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

/** The typed client; its cookie is sent by the browser. Use it through `read`, which throws. */
export const http = createClient<paths>({ baseUrl: "/v1" });

interface Outcome<Body> {
  data?: Body;
  error?: unknown;
  response: Response;
}

/** Returns the body of a response. Throws ApiError for one outside 2xx, and if there is none. */
export async function read<Body>(request: Promise<Outcome<Body>>): Promise<Body> {
  let outcome: Outcome<Body>;
  try {
    outcome = await request;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    note(0);
    throw new ApiError(0, {});
  }
  const { data, error, response } = outcome;
  if (response.ok) return data as Body;
  note(response.status);
  const problem = typeof error === "object" && error !== null ? (error as Partial<Problem>) : {};
  throw new ApiError(response.status, problem);
}

/** The same for a body `{data}`: returns what is in it. */
export const readData = async <Body>(request: Promise<Outcome<{ data: Body }>>): Promise<Body> =>
  (await read(request)).data;

/** The text of anything that was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

import type { Egress, EgressResponse } from "../egress/agent.ts";
import { EgressError } from "../egress/egress-error.ts";
import {
  MAX_FILE_BYTES,
  ModuleError,
  type ModuleLoader,
  ModuleNotReadError,
  type ModuleReader,
  RelativeModuleLoader,
} from "./load-modules.ts";

const FILE_TIMEOUT_MS = 10_000;
const TOTAL_TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 3;
const FIELD = { in: "body", path: "component_url" } as const;

/** Which of the two machines was too busy can't be known; it is nothing that the caller has to change. */
const PASSING = new Set<EgressError["code"]>(["timeout", "local"]);

type Requests = Pick<Egress, "request">;

/** Returns the address of the raw file if `address` is GitHub's page of a file, and any other address unchanged. */
export function rawAddress(address: URL): URL {
  const match = /^\/([^/]+)\/([^/]+)\/(?:blob|raw)\/(.+)$/.exec(address.pathname);
  if (address.hostname !== "github.com" || match === null) return address;
  return new URL(`https://raw.githubusercontent.com/${match[1]}/${match[2]}/${match[3]}`);
}

function decode(body: Buffer, address: URL): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw new ModuleError(`${address.href} is not UTF-8 text`);
  }
}

class UrlReader implements ModuleReader {
  readonly #egress: Requests;
  readonly #deadline = Date.now() + TOTAL_TIMEOUT_MS;

  constructor(egress: Requests) {
    this.#egress = egress;
  }

  async read(requested: URL): Promise<{ text: string; address: URL } | null> {
    let address = rawAddress(requested);
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await this.#get(address);
      if (response.status < 300 || response.status > 399) return this.#textOf(response, address);
      const location = response.headers.location ?? "";
      if (!URL.canParse(location, address.href)) {
        throw new ModuleError(`${address.href} redirects to an invalid address`);
      }
      const next = new URL(location, address);
      // A redirect from https to http is not followed.
      if (!/^https?:$/.test(next.protocol) || (address.protocol === "https:" && next.protocol === "http:")) {
        throw new ModuleError(`${address.href} redirects to ${next.protocol}//, which is not followed`);
      }
      address = rawAddress(next);
    }
    throw new ModuleError(`${requested.href} redirects more than ${MAX_REDIRECTS} times`);
  }

  async probe(address: URL): Promise<string | null> {
    const { status, headers, body, truncated } = await this.#get(address);
    if (status === 429 || status >= 500) {
      throw new ModuleError(`${address.href} responded with status ${status}`);
    }
    const isFile =
      status === 200 && !truncated && !headers["content-type"]?.toLowerCase().startsWith("text/html");
    return isFile ? body.toString("utf8") : null;
  }

  async #get(address: URL): Promise<EgressResponse> {
    const remainingMs = this.#deadline - Date.now();
    if (remainingMs <= 0) {
      throw new ModuleNotReadError(`fetching all files took more than ${TOTAL_TIMEOUT_MS / 1000} s`);
    }
    try {
      return await this.#egress.request(address.href, {
        method: "GET",
        headers: { accept: "text/javascript, text/plain, */*" },
        timeoutMs: Math.min(FILE_TIMEOUT_MS, remainingMs),
        maxResponseBytes: MAX_FILE_BYTES,
      });
    } catch (error) {
      const isPassing = error instanceof EgressError && PASSING.has(error.code);
      const Kind = isPassing ? ModuleNotReadError : ModuleError;
      throw new Kind(`${address.href} could not be fetched: ${(error as Error).message}`, { cause: error });
    }
  }

  #textOf(response: EgressResponse, address: URL): { text: string; address: URL } | null {
    const { status, headers, body, truncated } = response;
    if (status === 404 || status === 410) return null;
    if (status !== 200) throw new ModuleError(`${address.href} responded with status ${status}`);
    if (truncated) throw new ModuleError(`${address.href} exceeds 1 MB`);
    if (headers["content-type"]?.toLowerCase().startsWith("text/html")) {
      throw new ModuleError(`${address.href} is a web page, not code`);
    }
    return { text: decode(body, address), address };
  }
}

/**
 * Returns a loader for the file at `component_url` and its relative imports over HTTP (docs/component-api.md#imports).
 * It fetches them through the egress guard; all files together must be fetched within 30 s. For GitHub's page of a
 * file, it fetches the raw file. Its errors are AppErrors `invalid` that name component_url and the address that
 * failed.
 */
export function fromUrl(url: string, egress: Requests): ModuleLoader {
  const address = URL.canParse(url) ? new URL(url) : null;
  const rejectWith = (message: string): ModuleReader => ({
    read: async () => {
      throw new ModuleError(message);
    },
    probe: async () => null,
  });
  if (address === null || !/^https?:$/.test(address.protocol)) {
    const placeholder = new URL("http://invalid/");
    return new RelativeModuleLoader(placeholder, FIELD, rejectWith("must be an http or https URL"));
  }
  if (address.username !== "" || address.password !== "") {
    const message = "must not contain a user name or password";
    return new RelativeModuleLoader(address, FIELD, rejectWith(message));
  }
  address.hash = "";
  return new RelativeModuleLoader(address, FIELD, new UrlReader(egress));
}

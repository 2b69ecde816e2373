import type { Egress, EgressResponse } from "../egress/agent.ts";
import {
  loaderOver,
  MAX_FILE_BYTES,
  type ModuleLoader,
  type ModuleReader,
  ModuleRefusal,
} from "./load-modules.ts";

const PER_FILE_MS = 10_000;
const IN_ALL_MS = 30_000;
const MAX_REDIRECTS = 3;
const FIELD = { in: "body", path: "component_url" } as const;

type Fetching = Pick<Egress, "request">;

/** The address of the text of a file that a GitHub page shows; any other address stays as it is. */
export function rawAddress(address: URL): URL {
  const match = /^\/([^/]+)\/([^/]+)\/(?:blob|raw)\/(.+)$/.exec(address.pathname);
  if (address.hostname !== "github.com" || match === null) return address;
  return new URL(`https://raw.githubusercontent.com/${match[1]}/${match[2]}/${match[3]}`);
}

function decode(body: Buffer, address: URL): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw new ModuleRefusal(`${address.href} is not UTF-8 text`);
  }
}

class UrlReader implements ModuleReader {
  readonly #egress: Fetching;
  readonly #deadline = Date.now() + IN_ALL_MS;

  constructor(egress: Fetching) {
    this.#egress = egress;
  }

  async read(asked: URL): Promise<{ text: string; address: URL } | null> {
    let address = rawAddress(asked);
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const answer = await this.#get(address);
      if (answer.status < 300 || answer.status > 399) return this.#textOf(answer, address);
      const location = answer.headers.location ?? "";
      if (!URL.canParse(location, address.href))
        throw new ModuleRefusal(`${address.href} redirects to nowhere`);
      const next = new URL(location, address);
      // A file asked for over TLS is not taken over plain HTTP.
      if (!/^https?:$/.test(next.protocol) || (address.protocol === "https:" && next.protocol === "http:")) {
        throw new ModuleRefusal(`${address.href} redirects to ${next.protocol}//, which is not followed`);
      }
      address = rawAddress(next);
    }
    throw new ModuleRefusal(`${asked.href} redirects more than ${MAX_REDIRECTS} times`);
  }

  async #get(address: URL) {
    const leftMs = this.#deadline - Date.now();
    if (leftMs <= 0) throw new ModuleRefusal(`the files took more than ${IN_ALL_MS / 1000} s in all`);
    try {
      return await this.#egress.request(address.href, {
        method: "GET",
        headers: { accept: "text/javascript, text/plain, */*" },
        timeoutMs: Math.min(PER_FILE_MS, leftMs),
        maxResponseBytes: MAX_FILE_BYTES,
      });
    } catch (error) {
      throw new ModuleRefusal(`${address.href} could not be fetched: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }

  #textOf(answer: EgressResponse, address: URL) {
    if (answer.status === 404 || answer.status === 410) return null;
    if (answer.status !== 200) throw new ModuleRefusal(`${address.href} answered ${answer.status}`);
    if (answer.truncated) throw new ModuleRefusal(`${address.href} exceeds 1 MB`);
    if (answer.headers["content-type"]?.toLowerCase().startsWith("text/html")) {
      throw new ModuleRefusal(`${address.href} is a web page, not code`);
    }
    return { text: decode(answer.body, address), address };
  }
}

/**
 * The file at `component_url` and its relative imports over HTTP, through the guarded way out (runtime.md).
 * A GitHub page of a file means the file. The whole closure has 30 s from the first call.
 * Throws AppError invalid that names component_url and the failing address.
 */
export function fromUrl(url: string, egress: Fetching): ModuleLoader {
  const address = URL.canParse(url) ? new URL(url) : null;
  const refuse = (message: string): ModuleReader => ({
    read: async () => {
      throw new ModuleRefusal(message);
    },
  });
  if (address === null || !/^https?:$/.test(address.protocol)) {
    return loaderOver(new URL("http://invalid/"), FIELD, refuse("must be an http or https URL"));
  }
  if (address.username !== "" || address.password !== "") {
    return loaderOver(address, FIELD, refuse("must hold no user name or password"));
  }
  address.hash = "";
  return loaderOver(address, FIELD, new UrlReader(egress));
}

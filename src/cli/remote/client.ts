import { Headwater, type HeadwaterOptions } from "../../../clients/typescript/src/index.ts";
import { version } from "../../lib/version.ts";
import { sayIfSlow } from "../output/slow.ts";
import type { Access } from "./access.ts";

/** Which program asks, for the server's log. */
export const USER_AGENT = `Headwater/${version}`;

/** Returns a client for a server and its key, with further options of it. Nothing is sent before the first call. */
export function clientFor(
  { url, apiKey, orgId }: Pick<Access, "url" | "apiKey" | "orgId">,
  options: Pick<HeadwaterOptions, "maxWaitMs"> = {},
): Headwater {
  return new Headwater({
    ...options,
    url,
    apiKey,
    ...(orgId !== undefined && { orgId }),
    fetch: (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set("user-agent", USER_AGENT);
      return sayIfSlow(url, fetch(input, { ...init, headers }));
    },
  });
}

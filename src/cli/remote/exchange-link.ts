import { hostname } from "node:os";
import { Headwater, type Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { USER_AGENT } from "./client.ts";

/** What a sign-in link consists of (docs/decisions/0024-sessions.md). */
export interface SignInLink {
  /** Of the server. */
  url: string;
  token: string;
}

/** Returns the parts of a sign-in link, or null for another text. */
export function parseLink(text: string): SignInLink | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const token = new URLSearchParams(url.hash.slice(1)).get("link");
  if (!token || !/^https?:$/.test(url.protocol)) return null;
  return { url: `${url.origin}${url.pathname.replace(/\/dashboard\/sign-in\/?$/, "")}`, token };
}

/**
 * Uses a sign-in link up and returns an API key for this machine: the link starts a session, which makes the key and ends.
 * Throws the client's errors, and AppError `invalid` if what responds sets no session.
 */
export async function exchangeLink({ url, token }: SignInLink): Promise<Schemas["CreatedApiKey"]> {
  let cookie: string | undefined;
  const client = new Headwater({
    url,
    // A link works once.
    maxRetries: 0,
    fetch: async (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set("user-agent", USER_AGENT);
      headers.set("origin", new URL(url).origin);
      if (cookie !== undefined) headers.set("cookie", cookie);
      const response = await fetch(input, { ...init, headers });
      cookie ??= response.headers.getSetCookie()[0]?.split(";")[0];
      return response;
    },
  });
  await client.request("post", "/sessions", { body: { link: token } });
  if (cookie === undefined) throw new AppError("invalid", `${url} started no session: is it a Headwater?`);
  try {
    return await client.request("post", "/api_keys", {
      body: { name: `headwater on ${hostname()}`.slice(0, 128) },
    });
  } finally {
    // It would end by itself.
    await client.request("delete", "/sessions/current", {}).catch(() => undefined);
  }
}

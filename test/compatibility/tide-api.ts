import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const TOKEN = "tide-token";
const SECRET = "tide-secret";

interface Reading {
  id: string;
  level: number;
  taken_at: string;
}

/** The API that the `tidewatch` components use: readings, newest first and two a page, and webhooks. */
export interface TideApi {
  auth: { api_url: string; oauth_access_token: string };
  readings: Reading[];
  /** `METHOD path`, in order. */
  requests: string[];
  /** Addresses of the registered hooks, by id. */
  hooks: Map<string, string>;
  sign(body: string): string;
  close(): Promise<void>;
}

export const reading = (n: number): Reading => ({
  id: `r${n}`,
  level: n,
  taken_at: new Date(Date.UTC(2024, 0, n)).toISOString(),
});

export async function startTideApi(): Promise<TideApi> {
  const requests: string[] = [];
  const hooks = new Map<string, string>();
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://tide");
    requests.push(`${request.method} ${url.pathname}${url.search}`);
    const respond = (status: number, body?: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(body && JSON.stringify(body));
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return respond(401, { error: "no token" });
    if (request.method === "POST") {
      const chunks = await request.toArray();
      const id = `h${hooks.size + 1}`;
      hooks.set(id, JSON.parse(Buffer.concat(chunks).toString()).url);
      return respond(201, { id, secret: SECRET });
    }
    if (request.method === "DELETE") {
      hooks.delete(url.pathname.split("/").pop() ?? "");
      return respond(204);
    }
    const from = (Number(url.searchParams.get("page")) - 1) * 2;
    const items = api.readings.slice(from, from + 2);
    respond(200, { items, has_more: api.readings.length > from + 2 });
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const api: TideApi = {
    auth: { api_url: `http://127.0.0.1:${port}`, oauth_access_token: TOKEN },
    readings: [],
    requests,
    hooks,
    sign: body => createHmac("sha256", SECRET).update(body).digest("hex"),
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
  return api;
}

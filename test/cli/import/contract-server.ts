import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface ShownAccount {
  sources?: Record<string, unknown>[];
  components?: Record<string, unknown>[];
  webhooks?: Record<string, unknown>[];
  subscriptions?: Record<string, unknown>[];
}

type Responding = { status: number; body: string; headers?: Record<string, string> } | null;

/** A server that speaks the contract, and nothing beyond it: the lists that Headwater adds are pages of a website. */
export interface ContractServer {
  url: string;
  /** Responds otherwise, if this returns something. */
  instead: (path: string) => Responding;
  close(): Promise<void>;
}

export const API_KEY = "key-of-the-other-server";
const PAGE = {
  status: 404,
  body: "<!doctype html><h1>Not found</h1>",
  headers: { "content-type": "text/html" },
};

export async function startContractServer(account: ShownAccount): Promise<ContractServer> {
  const behaviour: Omit<ContractServer, "url" | "close"> = { instead: () => null };
  const respond = (path: string, authorization: string | undefined): Responding => {
    if (authorization !== `Bearer ${API_KEY}`) return { status: 401, body: '{"error": "unauthorized"}' };
    return contractOf(account, new URL(path, "http://x"));
  };
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    const responding = behaviour.instead(path) ?? respond(path, request.headers.authorization) ?? PAGE;
    response.writeHead(responding.status, { "content-type": "application/json", ...responding.headers });
    response.end(responding.body);
  }).listen(0, "127.0.0.1");
  await new Promise(resolve => server.once("listening", resolve));
  return Object.assign(behaviour, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () =>
      new Promise<void>(resolve => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  });
}

function contractOf(
  { sources = [], components = [], webhooks = [], subscriptions = [] }: ShownAccount,
  url: URL,
): Responding {
  const { pathname, searchParams } = url;
  const data = (value: unknown) => ({ status: 200, body: JSON.stringify({ data: value }) });
  switch (pathname) {
    case "/v1/users/me":
      return data({ id: "u_1", username: "ada", email: "ada@example.com", orgs: [] });
    case "/v1/users/me/sources/":
      return { status: 200, body: JSON.stringify(pageOf(sources, searchParams)) };
    case "/v1/users/me/webhooks":
      return { status: 200, body: JSON.stringify(pageOf(webhooks, searchParams)) };
    case "/v1/users/me/subscriptions":
      return data(subscriptions);
  }
  const [, id = ""] = /^\/v1\/components\/([^/]+)$/.exec(pathname) ?? [];
  const component = components.find(one => one.id === decodeURIComponent(id));
  return component ? data(component) : null;
}

/** A cursor is in each page, also in the last one and in one behind it, as the contract's are texts. */
function pageOf(rows: Record<string, unknown>[], query: URLSearchParams) {
  const limit = Number(query.get("limit") ?? 10);
  const after = query.get("after");
  const start = after === null ? 0 : Number(after);
  const data = rows.slice(start, start + limit);
  const end = String(start + data.length);
  return {
    page_info: { total_count: rows.length, count: data.length, start_cursor: String(start), end_cursor: end },
    data,
  };
}

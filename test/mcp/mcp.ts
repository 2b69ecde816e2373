import { request as httpRequest } from "node:http";
import { HEADERS, META, VERSIONS } from "../../src/mcp/protocol.ts";
import type { Api } from "../support/api.ts";

export const [MODERN] = VERSIONS.modern;

export interface McpResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: each test expects a different body
  json: any;
}

export interface McpRequest {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  /** Sent as JSON unless it is a string. */
  body?: unknown;
}

/** Sends exactly these headers and this body, which no client would. */
export function exchange(api: Api, { method = "POST", path = "/mcp", headers, body }: McpRequest) {
  const sent = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  return new Promise<McpResponse>((resolve, reject) => {
    const request = httpRequest(new URL(path, api.baseUrl), {
      method,
      agent: false,
      headers: {
        authorization: `Bearer ${api.apiKey}`,
        accept: "application/json, text/event-stream",
        ...(sent !== undefined && {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(sent),
        }),
        ...headers,
      },
    });
    request.on("error", reject).on("response", response => {
      const chunks: Buffer[] = [];
      response
        .on("error", reject)
        .on("data", (chunk: Buffer) => chunks.push(chunk))
        .on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          const isJson = /json/.test(response.headers["content-type"] ?? "");
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: isJson && text !== "" ? JSON.parse(text) : undefined,
          });
        });
    });
    request.end(sent);
  });
}

/** A modern request as it should be; what `changes` has is sent instead. */
export function modern(
  method: string,
  params: Record<string, unknown> = {},
  changes: { headers?: Record<string, string>; meta?: Record<string, unknown> } = {},
): McpRequest {
  const name = params.name ?? params.uri;
  return {
    headers: {
      [HEADERS.version]: MODERN,
      [HEADERS.method]: method,
      ...(typeof name === "string" && { [HEADERS.name]: name }),
      ...changes.headers,
    },
    body: {
      jsonrpc: "2.0",
      id: 1,
      method,
      params: {
        ...params,
        _meta: { [META.version]: MODERN, [META.clientCapabilities]: {}, ...changes.meta },
      },
    },
  };
}

/** A request of a client that has opened with `initialize`. */
export const legacy = (method: string, params?: Record<string, unknown>): McpRequest => ({
  headers: { [HEADERS.version]: VERSIONS.legacy[0] },
  body: { jsonrpc: "2.0", id: 1, method, ...(params && { params }) },
});

/** Calls a tool and returns its result. */
export async function callTool(api: Api, name: string, given: object = {}, path = "/mcp") {
  const response = await exchange(api, { ...modern("tools/call", { name, arguments: given }), path });
  if (response.json?.result === undefined) throw new Error(`${response.status}: ${response.text}`);
  return response.json.result;
}

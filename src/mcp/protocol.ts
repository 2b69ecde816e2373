/** Every name, code and version of the Model Context Protocol that this server uses. */

/** A modern request says all of itself; a legacy client opens with `initialize`. */
export type Era = "modern" | "legacy";

/** The newest first: what a client of an unknown version is offered. */
export const VERSIONS: Readonly<Record<Era, readonly [string, ...string[]]>> = {
  modern: ["2026-07-28"],
  legacy: ["2025-11-25", "2025-06-18", "2025-03-26"],
};

/** Members of `_meta`, of a request and of a result. */
export const META = {
  version: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  serverInfo: "io.modelcontextprotocol/serverInfo",
} as const;

/** Headers that say again what the body says, for those on the way who don't read it. */
export const HEADERS = {
  version: "MCP-Protocol-Version",
  method: "Mcp-Method",
  name: "Mcp-Name",
} as const;

/** The parameter that `Mcp-Name` repeats, of the methods that have one. */
export const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

/**
 * Codes of errors. Those from -32020 on are the protocol's own; those of the Events extension, from -32011 to -32015, are what hosts
 * expect that use it: the extension is a beta, whose draft (SEP-3415) numbers them otherwise, -32023 to -32027. The others are
 * JSON-RPC's.
 */
export const CODES = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  headerMismatch: -32020,
  unsupportedVersion: -32022,
  notFound: -32011,
  forbidden: -32012,
  resourceExhausted: -32013,
  unsupported: -32014,
  callbackEndpoint: -32015,
} as const;

/** The Events extension, as a capability. */
export const EVENTS_EXTENSION = "io.modelcontextprotocol/events";

/** Schemes of resources. */
export const URIS = {
  docs: "headwater://docs/",
  source: "headwater://sources/",
} as const;

/** An error that a request gets instead of a result. */
export class RpcError extends Error {
  readonly code: number;
  readonly status: number;
  readonly data: object | undefined;

  /** `status` is that of the HTTP response: 400 for a message that breaks the protocol's rules, 200 for what a method says. */
  constructor(
    code: keyof typeof CODES,
    message: string,
    { status = 200, data }: { status?: number; data?: object } = {},
  ) {
    super(message);
    this.name = "RpcError";
    this.code = CODES[code];
    this.status = status;
    this.data = data;
  }
}

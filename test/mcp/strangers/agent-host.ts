import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { getRequestListener } from "@hono/node-server";
import { Webhook } from "standardwebhooks";

/** What these tests use of `@ai-sdk/mcp`, which is installed only where `npm run test:mcp` runs. */
interface AiSdk {
  createMCPClient(config: {
    transport: { type: "http"; url: string; headers: Record<string, string> };
    protocolVersionDiscovery: boolean;
    experimental_events: { store: Store };
  }): Promise<Client>;
  experimental_createMCPEventWebhook(options: {
    store: Store;
    onEvent: (args: { event: AgentEvent }) => Promise<void>;
    onTerminated: (args: { termination: unknown }) => Promise<void>;
  }): (request: Request) => Promise<Response>;
}

interface Client {
  initializeResult: { protocolVersion: string };
  experimental_events: {
    list(): Promise<{ events: { name: string; delivery: string[] }[] }>;
    subscribe(options: {
      name: string;
      arguments: Record<string, unknown>;
      delivery: { mode: "webhook"; url: string; allowInsecureLocalhost?: boolean; secret?: string };
      ttlMs?: number | null;
    }): Promise<Subscribed>;
    refresh(options: { id: string }): Promise<Subscribed>;
    unsubscribe(options: { id: string }): Promise<void>;
  };
  callTool(args: {
    name: string;
    arguments: Record<string, unknown>;
  }): Promise<{ structuredContent: unknown }>;
  close(): Promise<void>;
}

export interface Subscribed {
  id: string;
  refreshBefore: string | null;
  cursor: string | null;
  truncated: boolean;
}

export interface AgentEvent {
  eventId: string;
  name: string;
  data: { event: unknown; event_id: string };
}

/** What the SDK has its user keep of a subscription. */
export interface StoredSubscription {
  key: string;
  id?: string;
  delivery: { url: string; secret: string };
}

/** The store that the SDK asks its user for. */
class Store {
  readonly rows = new Map<string, StoredSubscription>();
  async get(key: string) {
    return this.rows.get(key);
  }
  async getById(id: string) {
    return [...this.rows.values()].find(row => row.id === id);
  }
  async set(row: StoredSubscription) {
    this.rows.set(row.key, row);
  }
  async update(key: string, patch: Partial<StoredSubscription>) {
    const row = this.rows.get(key);
    if (row) this.rows.set(key, { ...row, ...patch });
  }
  async delete(key: string) {
    this.rows.delete(key);
  }
}

/** One request to the callback, and what the SDK has responded. */
export interface Notified {
  raw: string;
  headers: Record<string, string>;
  status: number;
}

/** An agent's host that is built on the AI SDK: its client, and its handler of notifications behind a server. */
export interface AgentHost {
  client: Client;
  /** Of its callback. */
  url: string;
  store: Store;
  events: AgentEvent[];
  terminations: unknown[];
  requests: Notified[];
  /** While it is set, the callback responds with this instead of the SDK. */
  responds: { status: number | null };
  close(): Promise<void>;
}

/** Starts a host. `tls` are the key and the certificate of its callback, which is plain HTTP without them. */
export async function startAgentHost(
  folder: string,
  {
    mcpUrl,
    apiKey,
    isModern = true,
    tls,
  }: { mcpUrl: string; apiKey: string; isModern?: boolean; tls?: { key: string; cert: string } },
): Promise<AgentHost> {
  const sdk = await loadSdk(folder);
  const store = new Store();
  const events: AgentEvent[] = [];
  const terminations: unknown[] = [];
  const requests: Notified[] = [];
  const responds: AgentHost["responds"] = { status: null };
  const handle = sdk.experimental_createMCPEventWebhook({
    store,
    onEvent: async ({ event }) => void events.push(event),
    onTerminated: async ({ termination }) => void terminations.push(termination),
  });
  // First: a client that can't connect leaves no server open.
  const client = await sdk.createMCPClient({
    transport: { type: "http", url: mcpUrl, headers: { Authorization: `Bearer ${apiKey}` } },
    protocolVersionDiscovery: isModern,
    experimental_events: { store },
  });
  const listener = getRequestListener(async request => {
    const raw = await request.clone().text();
    const response =
      responds.status === null ? await handle(request) : new Response(null, { status: responds.status });
    requests.push({ raw, headers: Object.fromEntries(request.headers), status: response.status });
    return response;
  });
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    client,
    url: `${tls ? "https" : "http"}://127.0.0.1:${port}/hook`,
    ...{ store, events, terminations, requests, responds },
    async close() {
      await client.close();
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

async function loadSdk(folder: string): Promise<AiSdk> {
  const file = createRequire(join(folder, "package.json")).resolve("@ai-sdk/mcp");
  return (await import(pathToFileURL(file).href)) as AiSdk;
}

/** Verifies a notification with another library than the SDK, and returns its body. */
export const verifiedBy = (secret: string, { raw, headers }: Pick<Notified, "raw" | "headers">): unknown =>
  new Webhook(secret).verify(raw, headers);

import { LRUCache } from "lru-cache";
import { lineOf } from "../alerts/raise.ts";
import { isObject } from "../lib/json.ts";
import { unixSeconds } from "../lib/time.ts";
import { ApiKeys } from "../models/user.ts";
import type { Stores } from "../platform.ts";
import { META } from "./protocol.ts";

/** What a client says that it is: anybody's text, shown to people and believed for nothing. */
interface ClientInfo {
  name: string;
  version: string | null;
}

const TEXT_CHARS = 64;

/** Returns which client sends a request: each modern one may say so, and the first one of a legacy client does. */
function clientOf(params: Record<string, unknown>): ClientInfo | null {
  const meta = isObject(params._meta) ? params._meta : {};
  const info = meta[META.clientInfo] ?? params.clientInfo;
  if (!isObject(info)) return null;
  const [name, version] = [info.name, info.version].map(text =>
    typeof text === "string" ? lineOf(text, TEXT_CHARS) : "",
  );
  return name ? { name, version: version || null } : null;
}

/** The last use is written at most this often. */
const NOTED_EVERY_S = 60;

/** What this process has noted of keys. */
const noted = new LRUCache<string, { atS: number; isNamed: boolean }>({ max: 10_000 });

/**
 * Notes that a client has used an API key, and which one if it says so. Not awaited: a request needs no record of itself. Names that
 * change with each request are not worth a write each.
 */
export function noteClient({ mongo, clock }: Stores, keyId: string, params: Record<string, unknown>): void {
  const client = clientOf(params);
  const now = unixSeconds(clock());
  const before = noted.get(keyId);
  if (before && now - before.atS < NOTED_EVERY_S && (before.isNamed || client === null)) return;
  noted.set(keyId, { atS: now, isNamed: client !== null });
  const named = client && { "mcp_client.name": client.name, "mcp_client.version": client.version };
  ApiKeys(mongo)
    .updateOne({ _id: keyId }, { $set: { "mcp_client.used_at": now, ...named } })
    .catch(() => noted.delete(keyId));
}

/** Returns what the client that subscribes is called: by itself, now or before, or else by the name of its API key; null without one. */
export async function clientNameOf(
  { mongo }: Stores,
  keyId: string,
  params: Record<string, unknown>,
): Promise<string | null> {
  const client = clientOf(params);
  if (client) return client.name;
  const key = await ApiKeys(mongo).findById(keyId, { mcp_client: 1, name: 1 }).lean();
  return key?.mcp_client?.name ?? key?.name ?? null;
}

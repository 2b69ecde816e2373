import { parseRedisUrl, type RedisMode, type RedisServer, type RedisUrl } from "./redis-url.ts";

/** How a certificate is verified. */
export interface RedisTls {
  /** Certificates in PEM that are trusted, and no others; by default those that Node trusts. */
  ca?: string;
  rejectUnauthorized: boolean;
}

/** How to reach Redis, as the settings say. */
export interface RedisSettings extends Omit<RedisUrl, "isTls"> {
  /** Undefined for a connection in the clear. */
  tls: RedisTls | undefined;
}

/** How to reach Redis, now that its servers were asked (`findRedis`). */
export interface RedisTarget extends RedisSettings {
  mode: RedisMode;
  /** Servers that the Sentinels named: the master, its replicas, and other Sentinels. Empty in other modes. */
  members: RedisServer[];
}

/** Returns how to reach the one server of a URL, without asking it. */
export function singleServer(text: string): RedisTarget {
  const { isTls, ...url } = parseRedisUrl(text);
  return {
    ...url,
    mode: "single",
    members: [],
    tls: isTls ? { rejectUnauthorized: true } : undefined,
  };
}

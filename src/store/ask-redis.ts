import { isIP } from "node:net";
import { Redis, type RedisOptions } from "ioredis";
import { SetupError } from "../lib/setup-error.ts";
import { isUntrustedCertificate } from "../lib/untrusted-certificate.ts";
import type { RedisTls } from "./redis-settings.ts";
import type { RedisServer } from "./redis-url.ts";

/** How long a server may take to connect, and to respond to each command. */
const TIMEOUT_MS = 2000;

export interface Asked extends RedisServer {
  username: string | undefined;
  password: string | undefined;
  family: number;
  tls: RedisTls | undefined;
}

/** Returns the address as people write it. */
export const addressOf = ({ host, port }: RedisServer): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

/** A name is sent to the server, which may have several certificates; an address is not a name. */
export const tlsFor = (tls: RedisTls, host: string) => ({
  ...tls,
  ...(isIP(host) === 0 && { servername: host }),
});

/**
 * Calls `ask` with a connection of its own to one server, which is closed afterwards. Throws SetupError if no later
 * try can help, as with a wrong password, and otherwise an error whose message is a reason.
 */
export async function askRedis<T>(server: Asked, ask: (redis: Redis) => Promise<T>): Promise<T> {
  const { host, port, family, username, password, tls } = server;
  const options: RedisOptions = {
    ...{
      host,
      port,
      family,
      protocol: 2,
      lazyConnect: true,
      enableReadyCheck: false,
      disableClientInfo: true,
    },
    ...{ retryStrategy: null, maxRetriesPerRequest: 0 },
    ...{ connectTimeout: TIMEOUT_MS, commandTimeout: TIMEOUT_MS },
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: tlsFor(tls, host) }),
  };
  const redis = new Redis(options);
  // The rejection of a command only says that the connection is closed; the event before it has the reason.
  let reason: Error | undefined;
  redis.on("error", error => {
    reason ??= error;
  });
  try {
    await redis.connect();
    return await ask(redis);
  } catch (error) {
    throw error instanceof SetupError ? error : describe(server, reason ?? (error as Error));
  } finally {
    redis.disconnect();
  }
}

function describe(server: Asked, error: Error): Error {
  const at = addressOf(server);
  const { code } = error as NodeJS.ErrnoException;
  if (error.message.startsWith("NOAUTH")) {
    return new SetupError(`REDIS_URL: ${at} wants a password (NOAUTH)`);
  }
  if (/^WRONGPASS|^ERR (invalid|AUTH|Client sent AUTH)/.test(error.message)) {
    return new SetupError(`REDIS_URL: ${at} does not know this user and password`);
  }
  if (error.message.startsWith("NOPERM")) {
    return new SetupError(`REDIS_URL: the user lacks rights at ${at} (${error.message})`);
  }
  if (isUntrustedCertificate(error)) {
    const advice = "set REDIS_TLS_CA_FILE, or REDIS_TLS_VERIFY=false for a self-signed one";
    return new SetupError(`REDIS_URL: the certificate of ${at} is not trusted (${error.message}): ${advice}`);
  }
  if (code === "EPROTO" || code?.startsWith("ERR_SSL_")) {
    return new SetupError(`REDIS_URL: ${at} does not speak TLS as rediss:// wants (${code})`);
  }
  // An AggregateError, of a name with several addresses, has no message of its own.
  const text = error.message || code || error.name;
  if (/closed|ECONNRESET/.test(text) && !server.tls) {
    return new Error(`${at} closed the connection: if it speaks TLS, REDIS_URL must begin with rediss://`);
  }
  return new Error(text.includes(at) ? text : `${at}${server.tls ? " over TLS" : ""}: ${text}`);
}

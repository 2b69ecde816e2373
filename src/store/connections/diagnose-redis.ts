import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { Redis, type RedisOptions } from "ioredis";
import { isUntrustedCertificate, SetupError } from "../../lib/errors.ts";
import type { RedisServer, RedisTls } from "./redis-url.ts";

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
    throw error instanceof SetupError ? error : await describe(server, reason ?? (error as Error));
  } finally {
    redis.disconnect();
  }
}

async function describe(server: Asked, error: Error): Promise<Error> {
  return faultOf(server, error) ?? (await faultOfProtocol(server, error)) ?? reasonOf(server, error);
}

function faultOf(server: Asked, error: Error): SetupError | undefined {
  const at = addressOf(server);
  const { code } = error as NodeJS.ErrnoException;
  if (error.message.startsWith("NOAUTH")) {
    return new SetupError(`REDIS_URL: ${at} requires a password (NOAUTH)`);
  }
  if (/^WRONGPASS|^ERR (invalid|AUTH|Client sent AUTH)/.test(error.message)) {
    return new SetupError(`REDIS_URL: ${at} rejects this user and password`);
  }
  if (error.message.startsWith("NOPERM")) {
    return new SetupError(`REDIS_URL: the user lacks permissions at ${at} (${error.message})`);
  }
  if (isUntrustedCertificate(error)) {
    const advice = "set REDIS_TLS to a file of those that are, or to unverified for a self-signed one";
    return new SetupError(`REDIS_URL: the certificate of ${at} is not trusted (${error.message}): ${advice}`);
  }
  if (code === "EPROTO" || code?.startsWith("ERR_SSL_")) {
    return new SetupError(`REDIS_URL: the TLS handshake with ${at} failed (${code})`);
  }
  return undefined;
}

const ENDED = /closed|ECONNRESET/;
const SILENT = /timed out|ETIMEDOUT/;

/** Returns what is wrong if the server speaks something else than the URL says: a Redis then closes the connection, or waits. */
async function faultOfProtocol(server: Asked, { message }: Error): Promise<SetupError | undefined> {
  const at = addressOf(server);
  const isUnreadable = message.includes("Unknown RESP type");
  if (server.tls) {
    const maySpeakClear = ENDED.test(message) || SILENT.test(message);
    if (!maySpeakClear || !(await speaksRedis(server))) return undefined;
    return new SetupError(`REDIS_URL: ${at} does not speak TLS: the URL must begin with redis, not rediss`);
  }
  if ((isUnreadable || ENDED.test(message)) && (await speaksTls(server))) {
    return new SetupError(`REDIS_URL: ${at} speaks TLS: the URL must begin with rediss, not redis`);
  }
  return isUnreadable ? new SetupError(`REDIS_URL: ${at} is not a Redis server`) : undefined;
}

function reasonOf(server: Asked, error: Error): Error {
  const at = addressOf(server);
  // An AggregateError, of a name with several addresses, has no message of its own.
  const text = error.message || (error as NodeJS.ErrnoException).code || error.name;
  if (text === "Command timed out")
    return new Error(`${at} accepts connections, but does not respond like a Redis server`);
  return new Error(text.includes(at) ? text : `${at}${server.tls ? " over TLS" : ""}: ${text}`);
}

/** Returns what is wrong with the rights of the user if that is what the error says; undefined for any other error. */
export function asLackOfRights(error: unknown): SetupError | undefined {
  if (!(error instanceof Error) || !error.message.startsWith("NOPERM")) return undefined;
  return new SetupError(
    `REDIS_URL: the user lacks permissions (${error.message}): it needs all commands, keys and channels`,
  );
}

/** How long a server may take to say what it speaks. */
const SPEAKS_WITHIN_MS = 1000;

/** Returns true if a TLS connection to the server can be opened, whatever its certificate. Nothing is sent over it. */
const speaksTls = ({ host, port }: RedisServer): Promise<boolean> =>
  outcome(connectTls({ host, port, rejectUnauthorized: false }), "secureConnect", () => true);

/** Returns true if the server responds as a Redis does to a command in the clear, if only that it wants a password. */
function speaksRedis({ host, port }: RedisServer): Promise<boolean> {
  const socket = connect({ host, port }, () => void socket.write("PING\r\n"));
  return outcome(socket, "data", data => /^(\+PONG|-[A-Z]+ )/.test(String(data)));
}

/** Resolves with what `judge` says of the event, and with false after an error or if the server says nothing. */
function outcome(socket: Socket, event: string, judge: (data: unknown) => boolean): Promise<boolean> {
  return new Promise(resolve => {
    const timer = setTimeout(() => end(false), SPEAKS_WITHIN_MS);
    const end = (is: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(is);
    };
    socket.on(event, data => end(judge(data)));
    for (const failure of ["error", "close"]) socket.on(failure, () => end(false));
  });
}

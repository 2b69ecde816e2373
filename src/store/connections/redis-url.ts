import { bareHost } from "../../lib/hosts.ts";
import { splitList } from "../../lib/lists.ts";

/** How Redis serves: one server, a Redis Cluster, or a server that Sentinels watch. */
export type RedisMode = "single" | "cluster" | "sentinel";

/** A server's address; an IPv6 host is without brackets. */
export interface RedisServer {
  host: string;
  port: number;
}

/** What `REDIS_URL` says. */
export interface RedisUrl {
  /** Undefined if only the server can tell: one URL may be that of a cluster. */
  mode: RedisMode | undefined;
  /** Servers of Redis, or the Sentinels that watch one. */
  servers: RedisServer[];
  /** By what name the Sentinels know the server. */
  masterName: string | undefined;
  username: string | undefined;
  password: string | undefined;
  database: number;
  /** The version of IP for names: 4, 6, or 0 for both. */
  family: number;
  isTls: boolean;
  /** For the Sentinels themselves, which have users of their own. */
  sentinelUsername: string | undefined;
  sentinelPassword: string | undefined;
}

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

const PORT = { redis: 6379, sentinel: 26_379 };
const MOST_SERVERS = 100;
const MOST_DATABASES = 10_000;

const SENTINEL =
  /^redis(s?)\+sentinel:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/([^@/?#\s]+)(?:\/(\d{1,5}))?(\?[^#]*)?$/;

/**
 * Parses `redis://`, `rediss://`, several of them separated by commas (the nodes of a cluster), or
 * `redis+sentinel://h1:26379,h2:26379/mymaster`. Throws an error that says what is wrong and shows nothing of the URL, which
 * may contain a password.
 */
export function parseRedisUrl(text: string): RedisUrl {
  return /^rediss?\+sentinel:/.test(text.trim()) ? parseSentinels(text.trim()) : parseServers(text);
}

function parseSentinels(text: string): RedisUrl {
  const [, tls, user, hosts, masterName, database, query] = SENTINEL.exec(text) ?? [];
  if (hosts === undefined || masterName === undefined) {
    throw new Error(
      "must be redis+sentinel://USER:PASSWORD@HOST:26379,HOST:26379/MASTER, or rediss+sentinel:// for TLS",
    );
  }
  const { username, password } = parseUser(user ?? "");
  return {
    mode: "sentinel",
    servers: bounded(hosts.split(",").map(host => parseHost(host, PORT.sentinel))),
    masterName: decoded(masterName),
    username,
    password,
    database: parseDatabase(database ?? ""),
    ...parseSentinelQuery(query ?? ""),
    isTls: tls === "s",
  };
}

function parseServers(text: string): RedisUrl {
  const urls = splitList(text);
  if (urls.length === 0) throw new Error("must contain a redis:// URL");
  const parsed = bounded(urls.map(parseServer));
  const [first] = parsed as [ReturnType<typeof parseServer>];
  const isList = parsed.length > 1;
  if (parsed.some(({ isTls }) => isTls !== first.isTls)) {
    throw new Error("must not mix redis:// and rediss://: all nodes of a cluster use the same one");
  }
  if (isList && parsed.some(({ database }) => database > 0)) {
    throw new Error("must not name a database in a list of servers: a cluster has only database 0");
  }
  return {
    mode: isList ? "cluster" : undefined,
    servers: parsed.map(({ server }) => server),
    masterName: undefined,
    username: sharedBy(parsed.map(({ username }) => username)),
    password: sharedBy(parsed.map(({ password }) => password)),
    database: first.database,
    family: first.family,
    isTls: first.isTls,
    sentinelUsername: undefined,
    sentinelPassword: undefined,
  };
}

/** Returns what all of those say that say anything. */
function sharedBy(values: (string | undefined)[]): string | undefined {
  const [first, ...others] = new Set(values.filter(value => value !== undefined));
  if (others.length > 0) throw new Error("must have the same user and password in each URL");
  return first;
}

function parseServer(text: string) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === "" || url.hash !== "") {
    throw new Error("must be one or more redis:// or rediss:// URLs, separated by commas");
  }
  const path = /^\/?(?:(\d{1,5})\/?)?$/.exec(url.pathname);
  if (!path) throw new Error("must end after the host, its port or the number of a database");
  return {
    server: hostAndPort(url, PORT.redis),
    username: decoded(url.username) || undefined,
    password: decoded(url.password) || undefined,
    database: parseDatabase(path[1] ?? ""),
    family: parseFamily(url.search),
    isTls: url.protocol === "rediss:",
  };
}

function parseUser(text: string) {
  const [, username = "", password = ""] = /^([^:]*)(?::(.*))?$/s.exec(text) ?? [];
  return { username: decoded(username) || undefined, password: decoded(password) || undefined };
}

function parseHost(text: string, defaultPort: number): RedisServer {
  const address = `redis://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || url.hostname === "" || url.host.length < text.length) {
    throw new Error("must have host names, each with or without a port, separated by commas");
  }
  return hostAndPort(url, defaultPort);
}

const hostAndPort = ({ hostname, port }: URL, defaultPort: number): RedisServer => ({
  host: bareHost(hostname),
  port: Number(port || defaultPort),
});

function parseDatabase(text: string): number {
  if (Number(text) < MOST_DATABASES) return Number(text);
  throw new Error(`must name a database with a number below ${MOST_DATABASES}`);
}

/** A query with anything else would be an option of the client, such as a key prefix that breaks BullMQ. */
function parseFamily(query: string): number {
  if (query === "" || query === "?") return 0;
  const [, family] = /^\?family=([046])$/.exec(query) ?? [];
  if (family === undefined)
    throw new Error("must not have a query other than family=4, family=6 or family=0");
  return Number(family);
}

/** Splits off the user and password of the Sentinels. */
function parseSentinelQuery(query: string) {
  const words = query.replace(/^\?/, "").split("&");
  const textOf = (name: string): string | undefined =>
    decoded(words.find(word => word.startsWith(`${name}=`))?.slice(name.length + 1) ?? "") || undefined;
  const others = words.filter(word => !/^sentinel_(username|password)=/.test(word)).join("&");
  return {
    family: parseFamily(others && `?${others}`),
    sentinelUsername: textOf("sentinel_username"),
    sentinelPassword: textOf("sentinel_password"),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error("must have a percent-encoded user, password and master name");
  }
}

function bounded<T>(servers: T[]): T[] {
  if (servers.length <= MOST_SERVERS) return servers;
  throw new Error(`must name at most ${MOST_SERVERS} servers: the others are found through them`);
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

import { accessSync, constants, readFileSync } from "node:fs";
import { parseCidrs, portsIn } from "./egress/address-rules.ts";
import { NONE } from "./egress/dial.ts";
import { parseProxyUrl } from "./egress/proxy.ts";
import { isLoopback } from "./lib/hosts.ts";
import { splitList } from "./lib/lists.ts";
import { parseMailUrl } from "./lib/smtp-url.ts";
import { LIMITS } from "./limits/catalogue.ts";
import { parsePlanLimits, QUOTA } from "./limits/plan-limits.ts";
import { parseSignInRules } from "./openid/rules.ts";
import { parseQueueShards } from "./queues/index.ts";
import {
  CONCURRENCY,
  parseAcceptance,
  parseEntries,
  RATE_LIMITS,
  readDuration,
  SIZES_MB,
  TIMEOUTS,
} from "./setting-lists.ts";
import { parseRedisUrl, type RedisUrl } from "./store/connections/redis-url.ts";

const KEY_BYTES = 32;

/**
 * Returns the bytes of one key of `SECRETS_KEY`, which is base64 or 64 hex digits: generators of hosting services write either.
 * 64 characters of base64 would be 48 bytes, which is never a key.
 */
export const secretsKey = (word: string): Buffer =>
  Buffer.from(word, /^[0-9a-f]{64}$/i.test(word) ? "hex" : "base64");

type Check = (value: string, env: Record<string, unknown>) => string | null;

/** Checks a value by parsing it: what `parse` throws says what it must be, behind `what`. */
const parsedBy =
  (parse: (value: string) => unknown, what = ""): Check =>
  value => {
    try {
      parse(value);
      return null;
    } catch (error) {
      return what + (error as Error).message;
    }
  };

const durations = parsedBy(value => splitList(value).map(readDuration));

const cidrs = parsedBy(value => parseCidrs(splitList(value)), "must be CIDRs, separated by commas: ");

const queueShards = parsedBy(parseQueueShards);

/** Ports at which servers accept mail. */
const MAIL_PORTS = ["25", "465", "587", "2525"];

/** Reads `EGRESS_BLOCK`, in which an entry of digits, or a range of them, is a port. Throws an error that names a bad entry. */
export function parseEgressBlock(text: string): { cidrs: string[]; ports: string[] } {
  const words = splitList(text);
  const isPort = (word: string) => word === NONE || /^[\d-]+$/.test(word);
  const [cidrs, ports] = [words.filter(word => !isPort(word)), words.filter(isPort)];
  parseCidrs(cidrs);
  portsIn(ports);
  return { cidrs, ports: ports.length === 0 ? MAIL_PORTS : ports };
}

const isAddress = (text: string, protocol: RegExp): boolean =>
  URL.canParse(text) && protocol.test(new URL(text).protocol) && new URL(text).hostname !== "";

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

const httpUrl: Check = value =>
  isAddress(value, /^https?:$/) && !/[?#\s]/.test(value)
    ? null
    : "must be an http or https URL without a query";

const traceUrl: Check = value => {
  if (!value.includes("{trace_id}")) return "must contain {trace_id}";
  return isAddress(value.replaceAll("{trace_id}", "0"), /^https?:$/) ? null : "must be an http or https URL";
};

const isSafe = (url: string): boolean =>
  new URL(url).protocol === "https:" || isLoopback(new URL(url).hostname);

/** Tokens and the codes for them must not travel in the clear, and without a rule the provider would let in everybody, or no one. */
const issuer: Check = (value, env) => {
  const fault = httpUrl(value, env);
  if (fault !== null) return fault;
  if (!isSafe(value)) return "must be an https URL, or http on this machine";
  if (new URL(value).username !== "") return "must not contain a user name";
  if (env.OIDC_CLIENT_ID === undefined) return "needs OIDC_CLIENT_ID";
  if (splitList(String(env.OIDC_ALLOW ?? "")).length === 0) {
    return "needs a rule for who may sign in: OIDC_ALLOW";
  }
  const publicUrl = env.PUBLIC_URL ?? DEFAULT_PUBLIC_URL;
  const isReachable = typeof publicUrl !== "string" || !URL.canParse(publicUrl) || isSafe(publicUrl);
  return isReachable ? null : "needs a PUBLIC_URL with https: browsers sign in over https only";
};

const ofProvider: Check = (_value, env) => (env.OIDC_ISSUER === undefined ? "needs OIDC_ISSUER" : null);

const signInRules: Check = (value, env) =>
  parsedBy(parseSignInRules, "has an entry that can't be read: ")(value, env) ?? ofProvider(value, env);

/** Ports don't separate: a browser sends the cookies of a host to all of its ports. */
const hasHostOf = (url: string, other: unknown): boolean =>
  typeof other === "string" && URL.canParse(other) && new URL(other).hostname === new URL(url).hostname;

/** The host of `PUBLIC_URL` if it is not set. */
const DEFAULT_PUBLIC_URL = "http://127.0.0.1";

const redisUrl = parsedBy(parseRedisUrl);

/**
 * Options of MongoDB's URL that would win over ours, with what they may be: what is stored must survive an election, and what is
 * read must be the newest.
 */
const MONGODB_OPTIONS = new Map([
  ["w", "majority"],
  ["journal", "true"],
  ["readconcernlevel", "majority"],
  ["readpreference", "primary"],
  ["retrywrites", "true"],
]);

const mongodbUrl: Check = value => {
  const [, rest, query = ""] = /^mongodb(?:\+srv)?:\/\/([^?]*)(?:\?(.*))?$/s.exec(value.trim()) ?? [];
  if (rest === undefined) return "must be a mongodb:// or mongodb+srv:// URL";
  // The driver would take what follows the first @ for a host, and name it in errors: a part of the password.
  if (rest.split("@").length > 2) return "must have a percent-encoded user and password";
  for (const [name, text] of new URLSearchParams(query)) {
    const only = MONGODB_OPTIONS.get(name.toLowerCase());
    if (only !== undefined && text.toLowerCase() !== only)
      return `must not have the option ${name}, except as ${only}`;
  }
  return null;
};

/** Returns what REDIS_URL says; undefined if it is missing or bad, which is reported for itself. */
function parsedRedisUrl({ REDIS_URL }: Record<string, unknown>): RedisUrl | undefined {
  if (typeof REDIS_URL !== "string" || redisUrl(REDIS_URL, {}) !== null) return undefined;
  return parseRedisUrl(REDIS_URL);
}

/** The value of `REDIS_TLS` that accepts any certificate. */
export const UNVERIFIED = "unverified";

/** A setting of TLS beside a URL without it would look safe and be in the clear. */
const redisTls: Check = (value, env) => {
  if (value !== UNVERIFIED && !hasCertificate(value))
    return `must be the path of a file with PEM certificates, or ${UNVERIFIED}`;
  const url = parsedRedisUrl(env);
  return url && !url.isTls ? "applies only to TLS: REDIS_URL must begin with rediss" : null;
};

function hasCertificate(path: string): boolean {
  try {
    return readFileSync(path, "utf8").includes("-----BEGIN CERTIFICATE-----");
  } catch {
    return false;
  }
}

const CHECKS: Record<string, Check> = {
  MONGODB_URL: mongodbUrl,
  REDIS_URL: redisUrl,
  REDIS_TLS: redisTls,
  DURABLE_INGRESS: parsedBy(parseAcceptance),
  PUBLIC_URL: httpUrl,
  INGRESS_URL: (value, env) =>
    httpUrl(value, env) ??
    (hasHostOf(value, env.PUBLIC_URL ?? DEFAULT_PUBLIC_URL)
      ? "must not have the host of the API and the board"
      : null),
  SECRETS_KEY: value => {
    const keys = splitList(value).map(secretsKey);
    return keys.length > 0 && keys.every(key => key.length === KEY_BYTES)
      ? null
      : `must be one or more keys of ${KEY_BYTES} bytes in base64, or as ${2 * KEY_BYTES} hex digits, separated by commas`;
  },
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: ofProvider,
  OIDC_CLIENT_SECRET: ofProvider,
  OIDC_SCOPES: value =>
    value.split(" ").includes("openid") && value.split(" ").includes("email")
      ? null
      : "must contain openid and email",
  OIDC_ALLOW: signInRules,
  OIDC_EGRESS_ALLOW: cidrs,
  EGRESS_ALLOW: cidrs,
  EGRESS_PROXY: parsedBy(parseProxyUrl),
  SANDBOX_EGRESS_ALLOW: (value, settings) => (value.trim() === NONE ? null : cidrs(value, settings)),
  FREE_LIMITS: parsedBy(value => parsePlanLimits(value, QUOTA)),
  PAID_LIMITS: parsedBy(value => parsePlanLimits(value)),
  TIMEOUTS: parsedBy(value => parseEntries(value, TIMEOUTS)),
  CONCURRENCY: parsedBy(value => parseEntries(value, CONCURRENCY)),
  SIZES_MB: parsedBy(value => parseEntries(value, SIZES_MB)),
  RATE_LIMITS: parsedBy(value => parseEntries(value, RATE_LIMITS)),
  EGRESS_BLOCK: parsedBy(
    parseEgressBlock,
    "must be CIDRs, and ports or ranges of ports, separated by commas: ",
  ),
  PACKAGES_NPMRC: value => (isReadable(value) ? null : "must be the path of a file that can be read"),
  PACKAGES_HOSTS: value =>
    splitList(value).every(word => /^[\w.-]+(:\d{1,5})?$/.test(word))
      ? null
      : "must be host names, each with or without a port, separated by commas",
  QUEUE_SHARDS: queueShards,
  WORKER_SHARDS: value =>
    splitList(value).length > 0 &&
    splitList(value).every(word => /^\d{1,4}$/.test(word) && Number(word) < LIMITS.queueShards.value)
      ? null
      : `must be numbers of shards, 0 to ${LIMITS.queueShards.value - 1}, separated by commas, such as 0,1`,
  DELIVERY_RETRY_SCHEDULE: durations,
  SMTP_URL: parsedBy(parseMailUrl),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl,
  TRACE_URL: traceUrl,
  SWEEP_EVERY: durations,
};

/** Checks what a schema can't express; returns a message for each bad setting, starting with its variable's name. */
export function checkFormats(env: Record<string, unknown>): string[] {
  return Object.entries(CHECKS).flatMap(([name, check]) => {
    const value = env[name];
    const message = typeof value === "string" ? check(value, env) : null;
    return message === null ? [] : [`${name} ${message}`];
  });
}

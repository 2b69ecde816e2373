import { accessSync, constants, readFileSync } from "node:fs";
import { parseCidrs, portsIn } from "./egress/address-rules.ts";
import { NONE } from "./egress/dial.ts";
import { durationMs } from "./lib/duration.ts";
import { isLoopback } from "./lib/is-loopback.ts";
import { MAIL_FROM, parseSmtpUrl } from "./lib/smtp-url.ts";
import { splitList } from "./lib/split-list.ts";
import { LIMITS } from "./limits/catalogue.ts";
import { parsePlanLimits } from "./limits/plan-limits.ts";
import { parseOrganizationRule } from "./openid/rules.ts";
import { parseQueueShards } from "./queues/parse-shards.ts";
import { parseRedisUrl, type RedisUrl } from "./store/redis-url.ts";

/** A longer timer would fire at once: Node counts milliseconds in 31 bits. */
const LONGEST_MS = 24 * 86_400_000;
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

// A pause of 0 would turn a periodic task into a busy loop.
const durations: Check = value => splitList(value).map(durationProblem).find(Boolean) ?? null;

function durationProblem(word: string): string | null {
  const ms = durationMs(word);
  if (/^[0-9]+$/.test(word)) return `must have a unit, such as ${word}s: ms, s, m, h or d`;
  if (Number.isNaN(ms)) return `must be a duration, such as 30s: a whole number with ms, s, m, h or d`;
  return ms >= 1 && ms <= LONGEST_MS ? null : "must be more than 0 and at most 24d";
}

const cidrs = parsedBy(value => parseCidrs(splitList(value)), "must be CIDRs, separated by commas: ");

const planLimits = parsedBy(parsePlanLimits);

const queueShards = parsedBy(parseQueueShards);

const ports = parsedBy(
  value => portsIn(splitList(value)),
  "must be ports or ranges of ports, separated by commas: ",
);

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

/** Returns the headers of a text `name=value,name=value`, whose values are percent-encoded. Throws for any other text. */
export function otlpHeaders(text: string): Record<string, string> {
  return Object.fromEntries(
    splitList(text).map(word => {
      const [, name = "", value = ""] =
        /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*([\x21-\x7e]*)$/.exec(word) ?? [];
      const decoded = decodeURIComponent(value);
      if (name === "" || !/^[\t\x20-\x7e]*$/.test(decoded)) throw new Error("not a header");
      return [name, decoded];
    }),
  );
}

const headers: Check = value => {
  try {
    otlpHeaders(value);
    return null;
  } catch {
    return "must be name=value pairs, separated by commas, with percent-encoded values";
  }
};

const traceUrl: Check = value => {
  if (!value.includes("{trace_id}")) return "must contain {trace_id}";
  return isAddress(value.replaceAll("{trace_id}", "0"), /^https?:$/) ? null : "must be an http or https URL";
};

const isSafe = (url: string): boolean =>
  new URL(url).protocol === "https:" || isLoopback(new URL(url).hostname);

const SIGN_IN_RULES = ["OIDC_ALLOWED_DOMAINS", "OIDC_ALLOWED_EMAILS", "OIDC_ORGANIZATIONS"];

/** Tokens and the codes for them must not travel in the clear, and without a rule the provider would let in everybody, or no one. */
const issuer: Check = (value, env) => {
  const fault = httpUrl(value, env);
  if (fault !== null) return fault;
  if (!isSafe(value)) return "must be an https URL, or http on this machine";
  if (new URL(value).username !== "") return "must not contain a user name";
  if (env.OIDC_CLIENT_ID === undefined) return "needs OIDC_CLIENT_ID";
  if (!SIGN_IN_RULES.some(name => splitList(String(env[name] ?? "")).length > 0)) {
    return `needs a rule for who may sign in: one of ${SIGN_IN_RULES.join(", ")}`;
  }
  const publicUrl = env.PUBLIC_URL ?? DEFAULT_PUBLIC_URL;
  const isReachable = typeof publicUrl !== "string" || !URL.canParse(publicUrl) || isSafe(publicUrl);
  return isReachable ? null : "needs a PUBLIC_URL with https: browsers sign in over https only";
};

const ofProvider: Check = (_value, env) => (env.OIDC_ISSUER === undefined ? "needs OIDC_ISSUER" : null);

const smtpUrl: Check = (value, env) => {
  try {
    parseSmtpUrl(value);
    return env.MAIL_FROM === undefined ? "needs MAIL_FROM, the sender of the mails" : null;
  } catch (error) {
    return (error as Error).message;
  }
};

const organizationRules: Check = (value, env) => {
  try {
    splitList(value).map(parseOrganizationRule);
    return ofProvider(value, env);
  } catch (error) {
    return `has an entry that can't be read: ${(error as Error).message}`;
  }
};

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

const redisMode: Check = (value, env) => {
  const url = parsedRedisUrl(env);
  if (!url) return null;
  if (value === "sentinel" && url.mode !== "sentinel")
    return "is sentinel, but REDIS_URL does not begin with redis+sentinel://";
  if (value !== "sentinel" && url.mode === "sentinel")
    return `is ${value}, but REDIS_URL begins with redis+sentinel://`;
  if (value === "single" && url.servers.length > 1) return "is single, but REDIS_URL names several servers";
  if (value === "cluster" && url.database > 0)
    return "is cluster, but REDIS_URL names a database other than 0";
  return null;
};

/** A setting of TLS beside a URL without it would look safe and be in the clear. */
function ofRedis(env: Record<string, unknown>, scheme: string, what: "TLS" | "Sentinels"): string | null {
  const url = parsedRedisUrl(env);
  if (!url || (what === "TLS" ? url.isTls : url.mode === "sentinel")) return null;
  return `applies only to ${what}: REDIS_URL must begin with ${scheme}`;
}

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
  REDIS_MODE: redisMode,
  REDIS_TLS_CA_FILE: (value, env) =>
    hasCertificate(value)
      ? ofRedis(env, "rediss", "TLS")
      : "must be the path of a file with PEM certificates",
  REDIS_TLS_VERIFY: (value, env) => (value === "false" ? ofRedis(env, "rediss", "TLS") : null),
  REDIS_SENTINEL_USERNAME: (_value, env) => ofRedis(env, "redis+sentinel", "Sentinels"),
  REDIS_SENTINEL_PASSWORD: (_value, env) => ofRedis(env, "redis+sentinel", "Sentinels"),
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
  OIDC_ALLOWED_DOMAINS: (value, env) =>
    splitList(value).every(word => /^(\*|[^\s@*]+)$/.test(word))
      ? ofProvider(value, env)
      : "must be domains without @, separated by commas, or *",
  OIDC_ALLOWED_EMAILS: (value, env) =>
    splitList(value).every(word => /^[^\s@]+@[^\s@]+$/.test(word))
      ? ofProvider(value, env)
      : "must be email addresses, separated by commas",
  OIDC_ORGANIZATIONS: organizationRules,
  OIDC_EGRESS_ALLOW: cidrs,
  EGRESS_ALLOW: cidrs,
  SANDBOX_EGRESS_ALLOW: (value, settings) => (value.trim() === NONE ? null : cidrs(value, settings)),
  FREE_LIMITS: planLimits,
  PAID_LIMITS: planLimits,
  EGRESS_BLOCK: cidrs,
  EGRESS_BLOCKED_PORTS: ports,
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
  DELIVERY_TIMEOUT: durations,
  DELIVERY_DISABLE_AFTER: durations,
  ALERT_FAILING_AFTER: durations,
  SMTP_URL: smtpUrl,
  MAIL_FROM: (value, env) => {
    if (env.SMTP_URL === undefined) return "needs SMTP_URL";
    return MAIL_FROM.test(value)
      ? null
      : "must be an address, or a name and an address: Headwater <alerts@example.com>";
  },
  RUN_TIMEOUT: durations,
  HOOK_TIMEOUT: durations,
  HTTP_RESPONSE_TIMEOUT: durations,
  SANDBOX_IDLE: durations,
  STALLED_AFTER: durations,
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl,
  OTEL_EXPORTER_OTLP_HEADERS: headers,
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

import { readFileSync } from "node:fs";
import type { ErrorObject, ValidateFunction } from "ajv";
import { type Static, Type } from "typebox";
import { parseProxyUrl } from "./egress/proxy.ts";
import { SetupError } from "./lib/errors.ts";
import { splitList } from "./lib/lists.ts";
import { packageRoot } from "./lib/package-root.ts";
import { newAjv, patternInWords, wordsOfPattern } from "./lib/schemas.ts";
import { parseMailUrl } from "./lib/smtp-url.ts";
import { DURATION, durationMs } from "./lib/time.ts";
import { version } from "./lib/versions.ts";
import { LIMITS } from "./limits/catalogue.ts";
import { RETRY_SCHEDULE } from "./limits/delivery-limits.ts";
import { limitsOfPlan, parsePlanLimits, QUOTA } from "./limits/plan-limits.ts";
import { parseSignInRules } from "./openid/rules.ts";
import { parseQueueShards } from "./queues/index.ts";
import { REMOVED, removedSettings } from "./removed-settings.ts";
import { checkFormats, parseEgressBlock, secretsKey, UNVERIFIED } from "./setting-formats.ts";
import {
  CONCURRENCY,
  parseAcceptance,
  parseEntries,
  RATE_LIMITS,
  SIZES_MB,
  TIMEOUTS,
} from "./setting-lists.ts";
import { misspelledNames, unknownNames } from "./setting-names.ts";
import { parseRedisUrl, type RedisSettings } from "./store/connections/redis-url.ts";
import { developmentSettings } from "./user-environment.ts";

const INTEGER = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });

/** The pattern of a setting that is one of these words. */
const oneOf = (...words: readonly string[]): string =>
  patternInWords(`^(${words.join("|")})$`, `must be one of ${words.join(", ")}`);

const HTTP_ADDRESS = patternInWords("^https?://[^/]+(/.*)?$", "must be an http or https address");

const Environment = Type.Object({
  /** MongoDB ≥ 6.0, a replica set: multi-document changes use transactions. */
  MONGODB_URL: Type.String(),
  /**
   * Redis ≥ 6.2 with `noeviction` and AOF. Several `redis://` urls, comma-separated, mean a cluster;
   * `redis+sentinel://h1:26379,h2:26379/mymaster` means Sentinels, and `rediss` TLS.
   */
  REDIS_URL: Type.String(),
  /**
   * A file of certificates in PEM that are trusted for Redis and Sentinels, and no others; or `unverified`, for a self-signed
   * certificate: nothing then shows that it is the right server.
   */
  REDIS_TLS: Type.String({ default: "" }),
  /** Prefix of every key and queue, so that several installations can share one Redis. */
  REDIS_PREFIX: Type.String({
    pattern: patternInWords("^[a-z0-9-]{1,32}$", "must be 1 to 32 lower-case letters, digits and -"),
    default: "headwater",
  }),
  /** Where work must be before it is accepted: `mongodb`, before Redis has it; `replicas:1`, so many replicas of Redis. */
  DURABLE_INGRESS: Type.String({ default: "redis" }),
  HOST: Type.String({ default: "127.0.0.1" }),
  PORT: INTEGER(0, 65_535),
  /** How the outside reaches the web process; endpoint URLs of sources start with it. */
  PUBLIC_URL: Type.String({ pattern: HTTP_ADDRESS }),
  /** A host of its own for the endpoints of sources: then `/in` is served there only, and nothing else is. */
  INGRESS_URL: Type.Optional(Type.String({ pattern: HTTP_ADDRESS })),
  /** True behind a load balancer of your own: then the client's address is the last one in `X-Forwarded-For`. */
  TRUST_PROXY: Type.Boolean({ default: false }),
  /** Keys of 32 bytes, base64 or hex, comma-separated: the first encrypts, all decrypt. */
  SECRETS_KEY: Type.String({
    pattern: patternInWords("^[A-Za-z0-9+/=_,\\s-]+$", "must be keys in base64 or hex, separated by commas"),
  }),
  /** Password of `/admin/queues`; unset means no board. */
  ADMIN_PASSWORD: Type.Optional(Type.String({ minLength: 8 })),
  /** Bearer token of `/metrics` and of the details of `/readyz`; unset means this machine, and a worker's own port. */
  METRICS_TOKEN: Type.Optional(
    Type.String({
      pattern: patternInWords(
        "^[\\x21-\\x7e]{16,512}$",
        "must be 16 to 512 visible ASCII characters without blanks",
      ),
    }),
  ),
  /** An OpenID provider with which people sign in; unset means API keys and links only. */
  OIDC_ISSUER: Type.Optional(Type.String({ maxLength: 512 })),
  OIDC_CLIENT_ID: Type.Optional(Type.String({ maxLength: 512 })),
  /** Unset for a public client: PKCE is used anyway. */
  OIDC_CLIENT_SECRET: Type.Optional(Type.String({ maxLength: 4096 })),
  OIDC_SCOPES: Type.String({
    pattern: patternInWords("^[\\x21\\x23-\\x5b\\x5d-\\x7e ]{1,512}$", "must be scopes, separated by blanks"),
    default: "openid email profile",
  }),
  /** Whom it lets in, and who becomes a member of which organization: a list of rules (`openid/rules.ts`). */
  OIDC_ALLOW: Type.String({ default: "" }),
  /** `create`: people whom a rule lets in get an account. `link`: one that exists belongs to the person with its verified address. */
  OIDC_ACCOUNTS: Type.String({
    pattern: patternInWords(
      "^(none|create|link|create, ?link)$",
      "must be create, link, create,link or none",
    ),
    default: "create",
  }),
  /** What requests to the provider may reach although it is not public, and nothing else may. */
  OIDC_EGRESS_ALLOW: Type.String({ default: "" }),
  EGRESS_ALLOW: Type.String({ default: "" }),
  SANDBOX_EGRESS_ALLOW: Type.String({ default: "" }),
  /** CIDRs, and ports; if it has no ports, those at which servers accept mail. */
  EGRESS_BLOCK: Type.String({ default: "" }),
  /** A forward proxy for deliveries and other requests of Headwater's own: `http://user:password@host:port`, or `https://…`. */
  EGRESS_PROXY: Type.Optional(Type.String({ maxLength: 2048 })),
  DELIVERY_RETRY_SCHEDULE: Type.String({
    pattern: `^${DURATION}(\\s*,\\s*${DURATION})*$`,
    default: RETRY_SCHEDULE,
  }),
  /** Lists of `name:value`; `setting-lists.ts` has their names. */
  TIMEOUTS: Type.String({ default: "" }),
  CONCURRENCY: Type.String({ default: "" }),
  SIZES_MB: Type.String({ default: "" }),
  RATE_LIMITS: Type.String({ default: "" }),
  /** Where mail about alerts is handed over, with its sender (`?from=`); unset means no mail. */
  SMTP_URL: Type.Optional(Type.String({ maxLength: 2048 })),
  SANDBOX_FIRST_UID: { ...INTEGER(1000, 2_000_000_000), default: 200_000 },
  /** Bounds of each plan that differ from the catalogue's, such as `sources=10,webhooks=5` (docs/limits.md), and a free account's quota. */
  FREE_LIMITS: Type.String({ default: "" }),
  PAID_LIMITS: Type.String({ default: "" }),
  /** Words of each payload in the index for searches; 0 for none. */
  PAYLOAD_SEARCH_WORDS: { ...INTEGER(0, 64), default: LIMITS.payloadWords.value },
  /** How many shards queues have, such as `deliveries:4,runs:2`; a stored number only grows. */
  QUEUE_SHARDS: Type.String({ default: "" }),
  /** The shards that a worker process consumes, such as `0,1`; by default all. */
  WORKER_SHARDS: Type.String({ default: "" }),
  /** How often the reconciler compares stored state with the queues, and how old pending work must be to count as lost. */
  SWEEP_EVERY: Type.String({ pattern: `^${DURATION}$`, default: "30s" }),
  /** Whether the components that come with a release are published and shown (docs/gallery.md). */
  GALLERY: Type.String({ pattern: oneOf("on", "off"), default: "on" }),
  /**
   * `read`: agents with a key read over the Model Context Protocol at `/mcp` (docs/agents.md). `write`: those with full access that
   * ask for it may change things too. It is not the default: a text that an agent reads may then make it act, which the
   * operator decides on, and not an upgrade.
   */
  MCP: Type.String({ pattern: oneOf("off", "read", "write"), default: "read" }),
  CACHE_DIR: Type.String({ default: "" }),
  /** A file of npm settings for component packages, such as the token of a private registry. */
  PACKAGES_NPMRC: Type.String({ default: "" }),
  PACKAGES_HOSTS: Type.String({ default: "" }),
  LOG_LEVEL: Type.String({
    pattern: oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent"),
    default: "info",
  }),
  /**
   * Where spans go, over OTLP/HTTP; unset means no tracing. The names are OpenTelemetry's own, and its exporter reads others of
   * them itself (docs/observability.md).
   */
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(Type.String({ maxLength: 2048 })),
  /** The share of the traces beginning here that is recorded. */
  OTEL_TRACES_SAMPLER_ARG: Type.Number({ minimum: 0, maximum: 1, default: 1 }),
  /** True: requests for sources and published events go on with the trace that their `traceparent` names. */
  TRUST_TRACEPARENT: Type.Boolean({ default: false }),
  /** Address of a trace in a tracing tool, with `{trace_id}`, for links. */
  TRACE_URL: Type.Optional(Type.String({ maxLength: 2048 })),
  /** Port on which a worker serves `/healthz`, `/readyz` and `/metrics`; 0 for none. */
  WORKER_PORT: { ...INTEGER(0, 65_535), default: 0 },
});

type Environment = Static<typeof Environment>;

/** Every setting there is. */
export const settingNames: readonly string[] = Object.keys(Environment.properties);

function describeError({ keyword, params, instancePath, message }: ErrorObject): string {
  if (keyword === "required") return `${params.missingProperty} is not set`;
  return `${instancePath.slice(1)} ${keyword === "pattern" ? wordsOfPattern(params.pattern) : message}`;
}

/** Unusable settings; each message starts with its variable's name. */
export class ConfigError extends SetupError {
  constructor(messages: string[]) {
    super(`configuration: ${messages.join("; ")} (see .env.example)`);
    this.name = "ConfigError";
  }
}

/** Reports numbers in other notations, such as 0x2 or 1e3, which would be coerced. */
const badNumbers = (known: Record<string, unknown>): string[] =>
  Object.entries(Environment.properties)
    .filter(([name, { type }]) => (type === "integer" || type === "number") && known[name] !== undefined)
    .filter(([name]) => !/^\s*[+-]?\d+(\.\d+)?\s*$/.test(String(known[name])))
    .map(([name]) => `${name} must be a number in decimal digits`);

const AJV_OPTIONS = { allErrors: true, coerceTypes: true, useDefaults: true, strict: false };
/** Compiled at the first use, and once: a test process reads hundreds of configurations. */
let validate: ValidateFunction | undefined;

/**
 * Reads and validates the settings; after this every value is trusted (docs/design.md#configuration). `fileNames` are the
 * names that a `.env` gave, each of which must be a setting. Throws ConfigError naming every bad variable at once.
 */
export function readConfig(
  environment: NodeJS.ProcessEnv = process.env,
  { fileNames = [] }: { fileNames?: string[] } = {},
) {
  const given = { ...developmentSettings(environment), ...environment };
  const known = Object.fromEntries(
    Object.keys(Environment.properties)
      .filter(name => given[name] !== undefined && given[name] !== "")
      .map(name => [name, given[name]]),
  );
  const badFormats = [...checkFormats(known), ...badNumbers(known)];
  known.PORT ??= "3000";
  known.PUBLIC_URL ??= `http://127.0.0.1:${known.PORT}`;
  validate ??= newAjv(AJV_OPTIONS).compile(Environment);
  const errors = validate(known) ? [] : (validate.errors ?? []);
  // What is wrong in words is better than a pattern.
  const inWords = new Set(badFormats.map(message => message.split(" ")[0]));
  const messages = errors
    .filter(({ keyword, instancePath }) => keyword !== "pattern" || !inWords.has(instancePath.slice(1)))
    .map(describeError);
  const isNamed = (name = "") => messages.some(message => message.startsWith(`${name} `));
  messages.push(...badFormats.filter(message => !isNamed(message.split(" ")[0])));
  const removed = removedSettings(environment);
  const isRemoved = (name: string) => Object.hasOwn(REMOVED, name);
  const unknown = unknownNames(
    fileNames.filter(name => !isRemoved(name)),
    settingNames,
  );
  const misspelled = misspelledNames(environment, settingNames).filter(
    message => !unknown.includes(message) && !isRemoved(message.split(" ")[0] ?? ""),
  );
  messages.unshift(...removed, ...unknown, ...misspelled);
  if (messages.length > 0) throw new ConfigError(messages);
  return freeze(known as unknown as Environment, environment);
}

/** Placeholders for required settings that work without stores never uses. */
const UNUSED = Object.fromEntries([
  ["MONGODB_URL", "mongodb://none.invalid:1"],
  ["REDIS_URL", "redis://none.invalid:1"],
  ["SECRETS_KEY", Buffer.alloc(32).toString("base64")],
]);

/** Reads settings for work without stores, such as `headwater dev`: none is required. Throws ConfigError. */
export function readLocalConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const given = Object.entries(environment).filter(([, value]) => value !== "");
  return readConfig({ ...UNUSED, ...developmentSettings(environment), ...Object.fromEntries(given) });
}

/** The part of the environment that npm may see when it fetches a component's packages: its settings, no secrets. */
const NPM_VARIABLE =
  /^(PATH|HOME|npm_config_\w+|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;

/** Nothing changes a setting after the start; readers sort or map a copy. */
const frozen = <T>(list: T[]): T[] => Object.freeze(list) as T[];

/** Returns the settings of sign-in with an OpenID provider; undefined if there is none. */
function openidSettings(env: Environment) {
  if (env.OIDC_ISSUER === undefined) return undefined;
  const rules = parseSignInRules(env.OIDC_ALLOW);
  return Object.freeze({
    issuer: env.OIDC_ISSUER,
    clientId: env.OIDC_CLIENT_ID ?? "",
    clientSecret: env.OIDC_CLIENT_SECRET,
    scopes: env.OIDC_SCOPES,
    name: new URL(env.OIDC_ISSUER).hostname,
    rules: Object.freeze({
      domains: frozen(rules.domains),
      emails: frozen(rules.emails),
      organizations: frozen(rules.organizations),
    }),
    createsAccounts: env.OIDC_ACCOUNTS.includes("create"),
    linksAccounts: env.OIDC_ACCOUNTS.includes("link"),
    egressAllow: frozen(splitList(env.OIDC_EGRESS_ALLOW)),
  });
}

function redisSettings(env: Environment): RedisSettings {
  const { isTls, ...url } = parseRedisUrl(env.REDIS_URL);
  const isVerified = env.REDIS_TLS !== UNVERIFIED;
  const ca = isVerified && env.REDIS_TLS && readFileSync(env.REDIS_TLS, "utf8");
  return Object.freeze({
    ...url,
    servers: frozen(url.servers.map(server => Object.freeze(server))),
    tls: isTls ? Object.freeze({ rejectUnauthorized: isVerified, ...(ca && { ca }) }) : undefined,
  });
}

function freeze(env: Environment, environment: NodeJS.ProcessEnv) {
  const timeouts = parseEntries(env.TIMEOUTS, TIMEOUTS);
  const { webhook, sandboxes, ...queues } = parseEntries(env.CONCURRENCY, CONCURRENCY);
  const megabytes = parseEntries(env.SIZES_MB, SIZES_MB);
  const rates = parseEntries(env.RATE_LIMITS, RATE_LIMITS);
  const accepted = parseAcceptance(env.DURABLE_INGRESS);
  const blocked = parseEgressBlock(env.EGRESS_BLOCK);
  const free = parsePlanLimits(env.FREE_LIMITS, QUOTA);
  return Object.freeze({
    version,
    npmEnvironment: Object.freeze(
      Object.fromEntries(Object.entries(environment).filter(([name]) => NPM_VARIABLE.test(name))),
    ),
    mongodbUrl: env.MONGODB_URL.trim(),
    packageCacheBytes: megabytes.packages * 1024 * 1024,
    npmrc: env.PACKAGES_NPMRC || undefined,
    npmHosts: frozen(splitList(env.PACKAGES_HOSTS)),
    redisUrl: env.REDIS_URL,
    redis: redisSettings(env),
    redisPrefix: env.REDIS_PREFIX,
    acceptReplicas: accepted.replicas,
    durableIngress: accepted.mongodb,
    host: env.HOST,
    port: env.PORT,
    publicUrl: env.PUBLIC_URL.replace(/\/+$/, ""),
    ingressUrl: env.INGRESS_URL?.replace(/\/+$/, ""),
    trustProxy: env.TRUST_PROXY,
    secretsKeys: frozen(splitList(env.SECRETS_KEY).map(secretsKey)),
    adminPassword: env.ADMIN_PASSWORD,
    metricsToken: env.METRICS_TOKEN,
    openid: openidSettings(env),
    egressAllow: frozen(splitList(env.EGRESS_ALLOW)),
    sandboxEgressAllow: frozen(splitList(env.SANDBOX_EGRESS_ALLOW)),
    /** For both guards: deliveries and `component_url`, and component code. */
    egress: Object.freeze({
      blocked: frozen(blocked.cidrs),
      blockedPorts: frozen(blocked.ports),
      ownUrls: frozen([env.PUBLIC_URL, ...(env.INGRESS_URL ? [env.INGRESS_URL] : [])]),
    }),
    egressProxy: env.EGRESS_PROXY === undefined ? undefined : Object.freeze(parseProxyUrl(env.EGRESS_PROXY)),
    deliveries: Object.freeze({
      retryScheduleMs: frozen(splitList(env.DELIVERY_RETRY_SCHEDULE).map(durationMs)),
      timeoutMs: timeouts.attempt,
      longestTimeoutMs: Math.max(timeouts.attempt, timeouts["longest-attempt"]),
      disableAfterMs: timeouts.disable,
      perWebhook: webhook,
    }),
    alerts: Object.freeze({ webhookFailingAfterMs: timeouts.alert }),
    mail: env.SMTP_URL === undefined ? undefined : Object.freeze(parseMailUrl(env.SMTP_URL)),
    sandbox: Object.freeze({
      runMs: timeouts.run,
      hookMs: timeouts.hook,
      heapMb: megabytes.heap,
      processes: sandboxes,
      memoryMb: megabytes.warm,
      firstUserId: env.SANDBOX_FIRST_UID,
    }),
    quotas: Object.freeze({
      dailyInvocations: free.daily_invocations ?? LIMITS.dailyInvocations.value,
      dailyComputeMs: free.daily_compute_ms ?? LIMITS.dailyComputeMs.value,
    }),
    limits: Object.freeze({
      free: limitsOfPlan("free", free),
      paid: limitsOfPlan("paid", parsePlanLimits(env.PAID_LIMITS)),
    }),
    rateLimit: Object.freeze({ perSecond: rates.api, burst: 2 * rates.api }),
    ingressPerSecond: rates.endpoint,
    httpResponseWaitMs: timeouts.response,
    payloadSearchWords: env.PAYLOAD_SEARCH_WORDS,
    /** By queue. */
    concurrency: Object.freeze(queues as Record<string, number>),
    queueShards: Object.freeze(parseQueueShards(env.QUEUE_SHARDS)),
    workerShards: env.WORKER_SHARDS ? frozen(splitList(env.WORKER_SHARDS).map(Number)) : undefined,
    stalledAfterMs: timeouts.stalled,
    sweepEveryMs: durationMs(env.SWEEP_EVERY),
    gallery: env.GALLERY === "on",
    mcp: env.MCP as "off" | "read" | "write",
    cacheDir: env.CACHE_DIR || `${packageRoot}.cache`,
    logLevel: env.LOG_LEVEL,
    tracing: Object.freeze({
      endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT,
      ratio: env.OTEL_TRACES_SAMPLER_ARG,
      trustsInbound: env.TRUST_TRACEPARENT,
      url: env.TRACE_URL,
    }),
    workerPort: env.WORKER_PORT,
    /** Where a test's process kills itself (src/lib/failpoint.ts); not a setting of an installation. */
    failpoint: environment.NODE_ENV === "test" ? environment.HEADWATER_FAILPOINT : undefined,
  });
}

/** All settings of a process, typed and frozen. Units are in the names. */
export type Config = ReturnType<typeof readConfig>;

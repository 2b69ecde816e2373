import { readFileSync } from "node:fs";
import type { ErrorObject, ValidateFunction } from "ajv";
import { type Static, type TInteger, Type } from "typebox";
import { DURATION, durationMs } from "./lib/duration.ts";
import { newAjv } from "./lib/new-ajv.ts";
import { patternInWords, wordsOfPattern } from "./lib/pattern-words.ts";
import { SetupError } from "./lib/setup-error.ts";
import { parseSmtpUrl } from "./lib/smtp-url.ts";
import { splitList } from "./lib/split-list.ts";
import { version } from "./lib/version.ts";
import { LIMITS } from "./limits/catalogue.ts";
import { RETRY_SCHEDULE } from "./limits/delivery-limits.ts";
import { limitsOfPlan, parsePlanLimits } from "./limits/plan-limits.ts";
import { parseOrganizationRule } from "./openid/rules.ts";
import { consumedQueues } from "./queues/index.ts";
import { parseQueueShards } from "./queues/parse-shards.ts";
import { checkFormats, otlpHeaders, secretsKey } from "./setting-formats.ts";
import { misspelledNames, unknownNames } from "./setting-names.ts";
import type { RedisSettings } from "./store/redis-settings.ts";
import { parseRedisUrl, type RedisMode } from "./store/redis-url.ts";
import { SAMPLERS, type SamplerName } from "./tracing/sampler.ts";
import { developmentSettings, root } from "./user-environment.ts";

const INTEGER = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });

/** Writes a bound in milliseconds as the default of a setting. */
const seconds = ({ value }: { value: number }) => `${value / 1000}s`;

/** `RUNS_CONCURRENCY` and so on: jobs that one worker process handles at once. */
const concurrencyName = (queue: string) => `${queue.toUpperCase().replaceAll("-", "_")}_CONCURRENCY`;

function concurrencySettings(): Record<string, TInteger> {
  const settings = consumedQueues.map(({ name, concurrency = 1 }) => [
    concurrencyName(name),
    { ...INTEGER(1, 1000), default: concurrency },
  ]);
  return Object.fromEntries(settings);
}

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
  /** Unset: from the URL, and for a single one from what its server says. */
  REDIS_MODE: Type.Optional(Type.String({ pattern: oneOf("single", "cluster", "sentinel") })),
  /** A file of certificates in PEM that are trusted for Redis and Sentinels, and no others. */
  REDIS_TLS_CA_FILE: Type.Optional(Type.String()),
  /** False for a self-signed certificate: nothing then shows that it is the right server. */
  REDIS_TLS_VERIFY: Type.Boolean({ default: true }),
  /** For the Sentinels themselves; the user and password in the URL are for Redis. */
  REDIS_SENTINEL_USERNAME: Type.Optional(Type.String()),
  REDIS_SENTINEL_PASSWORD: Type.Optional(Type.String()),
  /** Prefix of every key and queue, so that several installations can share one Redis. */
  REDIS_PREFIX: Type.String({
    pattern: patternInWords("^[a-z0-9-]{1,32}$", "must be 1 to 32 lower-case letters, digits and -"),
    default: "headwater",
  }),
  /** Replicas of Redis that must hold what is accepted before it is confirmed; 0 for none. */
  ACCEPT_REPLICAS: { ...INTEGER(0, 16), default: 0 },
  /** `mongodb`: what is accepted is written there before it is enqueued in Redis. */
  DURABLE_INGRESS: Type.String({ pattern: oneOf("redis", "mongodb"), default: "redis" }),
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
  /** How the button calls the provider; its host by default. */
  OIDC_NAME: Type.Optional(Type.String({ maxLength: 60 })),
  OIDC_SCOPES: Type.String({
    pattern: patternInWords("^[\\x21\\x23-\\x5b\\x5d-\\x7e ]{1,512}$", "must be scopes, separated by blanks"),
    default: "openid email profile",
  }),
  /** Whom it lets in: domains of verified email addresses (`*` for any), addresses, and members by rule. */
  OIDC_ALLOWED_DOMAINS: Type.String({ default: "" }),
  OIDC_ALLOWED_EMAILS: Type.String({ default: "" }),
  OIDC_ORGANIZATIONS: Type.String({ default: "" }),
  /** Whether people whom a rule lets in get an account if they have none. */
  OIDC_CREATE_ACCOUNTS: Type.Boolean({ default: true }),
  /** Whether an account that exists belongs to the person with its verified email address. */
  OIDC_LINK_ACCOUNTS: Type.Boolean({ default: false }),
  /** What requests to the provider may reach although it is not public, and nothing else may. */
  OIDC_EGRESS_ALLOW: Type.String({ default: "" }),
  EGRESS_ALLOW: Type.String({ default: "" }),
  SANDBOX_EGRESS_ALLOW: Type.String({ default: "" }),
  EGRESS_BLOCK: Type.String({ default: "" }),
  /** By default, the ports at which servers accept mail. */
  EGRESS_BLOCKED_PORTS: Type.String({ default: "25,465,587,2525" }),
  DELIVERY_RETRY_SCHEDULE: Type.String({
    pattern: `^${DURATION}(\\s*,\\s*${DURATION})*$`,
    default: RETRY_SCHEDULE,
  }),
  DELIVERY_TIMEOUT: Type.String({ pattern: `^${DURATION}$`, default: seconds(LIMITS.attemptMs) }),
  /** A webhook whose every attempt failed for this long is disabled. */
  DELIVERY_DISABLE_AFTER: Type.String({ pattern: `^${DURATION}$`, default: "5d" }),
  /** The owner of a webhook is alerted at a failure this long after the first one. */
  ALERT_FAILING_AFTER: Type.String({ pattern: `^${DURATION}$`, default: "3m" }),
  /** Where mail about alerts is handed over; unset means no mail. */
  SMTP_URL: Type.Optional(Type.String({ maxLength: 2048 })),
  /** The sender of mail. */
  MAIL_FROM: Type.Optional(Type.String({ maxLength: 320 })),
  /** Deliveries in flight at once to one healthy webhook, over all worker processes. */
  DELIVERY_PER_WEBHOOK: { ...INTEGER(1, 100), default: LIMITS.permits.value },
  RUN_TIMEOUT: Type.String({ pattern: `^${DURATION}$`, default: seconds(LIMITS.runMs) }),
  HOOK_TIMEOUT: Type.String({ pattern: `^${DURATION}$`, default: seconds(LIMITS.hookMs) }),
  /** How long an HTTP request waits for a component that responds to it itself. */
  HTTP_RESPONSE_TIMEOUT: Type.String({ pattern: `^${DURATION}$`, default: seconds(LIMITS.httpResponseMs) }),
  RUN_HEAP_MB: { ...INTEGER(32, 4096), default: LIMITS.runHeapBytes.value / 1024 / 1024 },
  SANDBOX_PROCESSES: { ...INTEGER(1, 1000), default: LIMITS.sandboxes.value },
  /** Megabytes of warm sandboxes of one runs worker; by default a quarter of the machine's memory. */
  SANDBOX_MEMORY_MB: Type.Optional(INTEGER(0, 1_000_000)),
  /** Timer sources of one account with the same code that share a sandbox; 1 for a sandbox each. */
  SANDBOX_SHARED_SOURCES: { ...INTEGER(1, 1000), default: LIMITS.sharedSources.value },
  SANDBOX_IDLE: Type.String({ pattern: `^${DURATION}$`, default: "5m" }),
  SANDBOX_FIRST_UID: { ...INTEGER(1000, 2_000_000_000), default: 200_000 },
  FREE_DAILY_INVOCATIONS: { ...INTEGER(0, 1e9), default: LIMITS.dailyInvocations.value },
  FREE_DAILY_COMPUTE_MS: { ...INTEGER(0, 1e12), default: LIMITS.dailyComputeMs.value },
  /** Bounds of each plan that differ from the catalogue's, such as `sources=10,webhooks=5` (docs/limits.md). */
  FREE_LIMITS: Type.String({ default: "" }),
  PAID_LIMITS: Type.String({ default: "" }),
  /** Share of Redis' memory above which new work is rejected by account; 100 for never. */
  REDIS_HIGH_WATER_PERCENT: { ...INTEGER(1, 100), default: LIMITS.redisHighWaterPercent.value },
  RATE_LIMIT_PER_SECOND: { ...INTEGER(0, 1e6), default: LIMITS.requestsPerSecond.value },
  RATE_LIMIT_BURST: { ...INTEGER(0, 1e6), default: 200 },
  /** Requests a second that one endpoint accepts; 0 is unlimited. */
  INGRESS_PER_SECOND: { ...INTEGER(0, 1e6), default: LIMITS.ingressPerSecond.value },
  /** Words of each payload in the index for searches; 0 for none. */
  PAYLOAD_SEARCH_WORDS: { ...INTEGER(0, 64), default: LIMITS.payloadWords.value },
  API_BODY_KB: { ...INTEGER(1, 65_536), default: LIMITS.apiBodyBytes.value / 1024 },
  ...concurrencySettings(),
  /** How many shards queues have, such as `deliveries:4,runs:2`; a stored number only grows. */
  QUEUE_SHARDS: Type.String({ default: "" }),
  /** The shards that a worker process consumes, such as `0,1`; by default all. */
  WORKER_SHARDS: Type.String({ default: "" }),
  /** How long until a killed worker's job is noticed and another worker starts it. */
  STALLED_AFTER: Type.String({ pattern: `^${DURATION}$`, default: "10s" }),
  /** How often the reconciler compares stored state with the queues, and how old pending work must be to count as lost. */
  SWEEP_EVERY: Type.String({ pattern: `^${DURATION}$`, default: "30s" }),
  CACHE_DIR: Type.String({ default: "" }),
  /** Megabytes of installed packages; fewer than four large sets (512 MB each) can make saves fail. */
  PACKAGES_MB: { ...INTEGER(2048, 1_048_576), default: LIMITS.packageCacheBytes.value / 1024 / 1024 },
  /** A file of npm settings for component packages, such as the token of a private registry. */
  PACKAGES_NPMRC: Type.String({ default: "" }),
  PACKAGES_HOSTS: Type.String({ default: "" }),
  LOG_LEVEL: Type.String({
    pattern: oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent"),
    default: "info",
  }),
  /** Where spans go, over OTLP/HTTP; unset means no tracing. The names are OpenTelemetry's own. */
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(Type.String({ maxLength: 2048 })),
  OTEL_EXPORTER_OTLP_HEADERS: Type.String({ maxLength: 8192, default: "" }),
  OTEL_EXPORTER_OTLP_PROTOCOL: Type.String({
    pattern: patternInWords("^http/protobuf$", "must be http/protobuf"),
    default: "http/protobuf",
  }),
  OTEL_SERVICE_NAME: Type.String({ maxLength: 255, default: "headwater" }),
  OTEL_TRACES_SAMPLER: Type.String({
    pattern: oneOf(...SAMPLERS),
    default: "parentbased_always_on" satisfies SamplerName,
  }),
  /** The share of traces that is recorded, for the samplers by ratio. */
  OTEL_TRACES_SAMPLER_ARG: Type.Number({ minimum: 0, maximum: 1, default: 1 }),
  /** Milliseconds that spans wait for others to be sent with; a process that is killed loses those. */
  OTEL_BSP_SCHEDULE_DELAY: { ...INTEGER(100, 60_000), default: 1000 },
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
  const unknown = unknownNames(fileNames, settingNames);
  const misspelled = misspelledNames(environment, settingNames).filter(message => !unknown.includes(message));
  messages.unshift(...unknown, ...misspelled);
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
  const lowerCase = (text: string) => frozen(splitList(text.toLowerCase()));
  return Object.freeze({
    issuer: env.OIDC_ISSUER,
    clientId: env.OIDC_CLIENT_ID ?? "",
    clientSecret: env.OIDC_CLIENT_SECRET,
    scopes: env.OIDC_SCOPES,
    name: env.OIDC_NAME ?? new URL(env.OIDC_ISSUER).hostname,
    rules: Object.freeze({
      domains: lowerCase(env.OIDC_ALLOWED_DOMAINS),
      emails: lowerCase(env.OIDC_ALLOWED_EMAILS),
      organizations: frozen(splitList(env.OIDC_ORGANIZATIONS).map(parseOrganizationRule)),
    }),
    createsAccounts: env.OIDC_CREATE_ACCOUNTS,
    linksAccounts: env.OIDC_LINK_ACCOUNTS,
    egressAllow: frozen(splitList(env.OIDC_EGRESS_ALLOW)),
  });
}

function redisSettings(env: Environment): RedisSettings {
  const { isTls, ...url } = parseRedisUrl(env.REDIS_URL);
  const ca = env.REDIS_TLS_CA_FILE && readFileSync(env.REDIS_TLS_CA_FILE, "utf8");
  return Object.freeze({
    ...url,
    servers: frozen(url.servers.map(server => Object.freeze(server))),
    mode: (env.REDIS_MODE as RedisMode | undefined) ?? url.mode,
    tls: isTls ? Object.freeze({ rejectUnauthorized: env.REDIS_TLS_VERIFY, ...(ca && { ca }) }) : undefined,
    sentinelUsername: env.REDIS_SENTINEL_USERNAME,
    sentinelPassword: env.REDIS_SENTINEL_PASSWORD,
  });
}

function freeze(env: Environment, environment: NodeJS.ProcessEnv) {
  return Object.freeze({
    version,
    npmEnvironment: Object.freeze(
      Object.fromEntries(Object.entries(environment).filter(([name]) => NPM_VARIABLE.test(name))),
    ),
    mongodbUrl: env.MONGODB_URL.trim(),
    packageCacheBytes: env.PACKAGES_MB * 1024 * 1024,
    npmrc: env.PACKAGES_NPMRC || undefined,
    npmHosts: frozen(splitList(env.PACKAGES_HOSTS)),
    redisUrl: env.REDIS_URL,
    redis: redisSettings(env),
    redisPrefix: env.REDIS_PREFIX,
    acceptReplicas: env.ACCEPT_REPLICAS,
    durableIngress: env.DURABLE_INGRESS === "mongodb",
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
      blocked: frozen(splitList(env.EGRESS_BLOCK)),
      blockedPorts: frozen(splitList(env.EGRESS_BLOCKED_PORTS)),
      ownUrls: frozen([env.PUBLIC_URL, ...(env.INGRESS_URL ? [env.INGRESS_URL] : [])]),
    }),
    deliveries: Object.freeze({
      retryScheduleMs: frozen(splitList(env.DELIVERY_RETRY_SCHEDULE).map(durationMs)),
      timeoutMs: durationMs(env.DELIVERY_TIMEOUT),
      disableAfterMs: durationMs(env.DELIVERY_DISABLE_AFTER),
      perWebhook: env.DELIVERY_PER_WEBHOOK,
    }),
    alerts: Object.freeze({ webhookFailingAfterMs: durationMs(env.ALERT_FAILING_AFTER) }),
    mail:
      env.SMTP_URL === undefined
        ? undefined
        : Object.freeze({ server: Object.freeze(parseSmtpUrl(env.SMTP_URL)), from: env.MAIL_FROM ?? "" }),
    sandbox: Object.freeze({
      runMs: durationMs(env.RUN_TIMEOUT),
      hookMs: durationMs(env.HOOK_TIMEOUT),
      heapMb: env.RUN_HEAP_MB,
      processes: env.SANDBOX_PROCESSES,
      memoryMb: env.SANDBOX_MEMORY_MB,
      sharedSources: env.SANDBOX_SHARED_SOURCES,
      idleMs: durationMs(env.SANDBOX_IDLE),
      firstUserId: env.SANDBOX_FIRST_UID,
    }),
    quotas: Object.freeze({
      dailyInvocations: env.FREE_DAILY_INVOCATIONS,
      dailyComputeMs: env.FREE_DAILY_COMPUTE_MS,
    }),
    limits: Object.freeze({
      free: limitsOfPlan("free", parsePlanLimits(env.FREE_LIMITS)),
      paid: limitsOfPlan("paid", parsePlanLimits(env.PAID_LIMITS)),
    }),
    redisHighWater: env.REDIS_HIGH_WATER_PERCENT / 100,
    rateLimit: Object.freeze({ perSecond: env.RATE_LIMIT_PER_SECOND, burst: env.RATE_LIMIT_BURST }),
    ingressPerSecond: env.INGRESS_PER_SECOND,
    httpResponseWaitMs: durationMs(env.HTTP_RESPONSE_TIMEOUT),
    payloadSearchWords: env.PAYLOAD_SEARCH_WORDS,
    apiBodyBytes: env.API_BODY_KB * 1024,
    /** By queue. */
    concurrency: Object.freeze(
      Object.fromEntries(
        consumedQueues.map(({ name }) => [
          name,
          (env as Record<string, unknown>)[concurrencyName(name)] as number,
        ]),
      ),
    ),
    queueShards: Object.freeze(parseQueueShards(env.QUEUE_SHARDS)),
    workerShards: env.WORKER_SHARDS ? frozen(splitList(env.WORKER_SHARDS).map(Number)) : undefined,
    stalledAfterMs: durationMs(env.STALLED_AFTER),
    sweepEveryMs: durationMs(env.SWEEP_EVERY),
    cacheDir: env.CACHE_DIR || `${root}.cache`,
    logLevel: env.LOG_LEVEL,
    tracing: Object.freeze({
      endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT,
      headers: Object.freeze(otlpHeaders(env.OTEL_EXPORTER_OTLP_HEADERS)),
      serviceName: env.OTEL_SERVICE_NAME,
      sampler: env.OTEL_TRACES_SAMPLER as SamplerName,
      ratio: env.OTEL_TRACES_SAMPLER_ARG,
      exportEveryMs: env.OTEL_BSP_SCHEDULE_DELAY,
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

import { readFileSync } from "node:fs";
import type { ErrorObject, ValidateFunction } from "ajv";
import { parseProxyUrl } from "./egress/proxy.ts";
import { SetupError } from "./lib/errors.ts";
import { splitList } from "./lib/lists.ts";
import { packageRoot } from "./lib/package-root.ts";
import { newAjv, wordsOfPattern } from "./lib/schemas.ts";
import { parseMailUrl } from "./lib/smtp-url.ts";
import { durationMs } from "./lib/time.ts";
import { version } from "./lib/versions.ts";
import { LIMITS } from "./limits/catalogue.ts";
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
import { Environment, settingNames } from "./setting-schema.ts";
import { parseRedisUrl, type RedisSettings } from "./store/connections/redis-url.ts";
import { developmentSettings } from "./user-environment.ts";

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

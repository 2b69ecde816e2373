import { type Static, Type } from "typebox";
import { patternInWords } from "./lib/schemas.ts";
import { DURATION } from "./lib/time.ts";
import { LIMITS } from "./limits/catalogue.ts";
import { RETRY_SCHEDULE } from "./limits/delivery-limits.ts";

const INTEGER = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });

/** The pattern of a setting that is one of these words. */
const oneOf = (...words: readonly string[]): string =>
  patternInWords(`^(${words.join("|")})$`, `must be one of ${words.join(", ")}`);

const HTTP_ADDRESS = patternInWords("^https?://[^/]+(/.*)?$", "must be an http or https address");

/** Every setting, as the environment has it. */
export const Environment = Type.Object({
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

export type Environment = Static<typeof Environment>;

/** The names of all. */
export const settingNames: readonly string[] = Object.keys(Environment.properties);

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { ConfigError, readConfig, settingNames } from "../src/config.ts";
import { LIMITS } from "../src/limits/catalogue.ts";
import { TEST_TLS } from "./egress/test-tls.ts";

const KEY = randomBytes(32).toString("base64");
const GOOD = {
  MONGODB_URL: "mongodb://127.0.0.1:27017/headwater",
  REDIS_URL: "redis://127.0.0.1:6379",
  SECRETS_KEY: KEY,
};

/** Returns the error of valid settings with these changes, or "" if there is none. */
function errorOf(env: Record<string, string | undefined>): string {
  try {
    readConfig({ ...GOOD, ...env });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message;
  }
  return "";
}

describe("settings", () => {
  it("have defaults, except for the stores and the key", () => {
    const config = readConfig(GOOD);
    expect(config).to.deep.include({
      host: "127.0.0.1",
      port: 3000,
      publicUrl: "http://127.0.0.1:3000",
      ingressUrl: undefined,
      trustProxy: false,
      adminPassword: undefined,
      egressAllow: [],
      sandboxEgressAllow: [],
      ingressPerSecond: 0,
      rateLimit: { perSecond: 100, burst: 200 },
      apiBodyBytes: 1024 * 1024,
    });
    expect(config.deliveries.retryScheduleMs).to.deep.equal(
      [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400].map(seconds => seconds * 1000),
    );
    expect(config.sandbox).to.deep.include({ runMs: 300_000, heapMb: 256 });
  });

  const accepted: [string, string, (config: ReturnType<typeof readConfig>) => unknown, unknown][] = [
    ["PORT", "0", config => config.port, 0],
    ["PUBLIC_URL", "https://example.org/base/", config => config.publicUrl, "https://example.org/base"],
    ["INGRESS_URL", "https://in.example.org/", config => config.ingressUrl, "https://in.example.org"],
    ["TRUST_PROXY", "true", config => config.trustProxy, true],
    ["EGRESS_ALLOW", " 127.0.0.0/8 , ::1/128,", config => config.egressAllow, ["127.0.0.0/8", "::1/128"]],
    ["DELIVERY_RETRY_SCHEDULE", "500ms, 5s", config => config.deliveries.retryScheduleMs, [500, 5000]],
    ["RUN_TIMEOUT", "2m", config => config.sandbox.runMs, 120_000],
    ["SANDBOX_MEMORY_MB", "512", config => config.sandbox.memoryMb, 512],
    ["STALLED_AFTER", "1h", config => config.stalledAfterMs, 3_600_000],
    ["DELIVERY_DISABLE_AFTER", "5d", config => config.deliveries.disableAfterMs, 432_000_000],
    ["QUEUE_SHARDS", "deliveries:4, runs:2", config => config.queueShards, { deliveries: 4, runs: 2 }],
    ["WORKER_SHARDS", "0,2", config => config.workerShards, [0, 2]],
    ["API_BODY_KB", "2", config => config.apiBodyBytes, 2048],
    ["HOST", "", config => config.host, "127.0.0.1"],
    ["REDIS_URL", "redis://a:1, redis://b:2", config => config.redis.mode, "cluster"],
    ["REDIS_URL", "rediss://u:p@a:1/3", config => config.redis.tls, { rejectUnauthorized: true }],
    ["REDIS_MODE", "cluster", config => config.redis.mode, "cluster"],
    ["ACCEPT_REPLICAS", "2", config => config.acceptReplicas, 2],
    ["DURABLE_INGRESS", "mongodb", config => config.durableIngress, true],
    ["DURABLE_INGRESS", "redis", config => config.durableIngress, false],
    ["ALERT_FAILING_AFTER", "10m", config => config.alerts.webhookFailingAfterMs, 600_000],
  ];
  for (const [name, value, read, wanted] of accepted) {
    it(`accept ${name}=${JSON.stringify(value)}`, () => {
      expect(read(readConfig({ ...GOOD, [name]: value }))).to.deep.equal(wanted);
    });
  }

  it("have a mail server only with a sender, and never show its password", () => {
    const SMTP_URL = "smtps://user:hidden%2F@mail.example.com";
    const MAIL_FROM = "Headwater <alerts@example.com>";
    expect(readConfig(GOOD).mail).to.equal(undefined);
    expect(readConfig({ ...GOOD, SMTP_URL, MAIL_FROM }).mail).to.deep.equal({
      from: MAIL_FROM,
      server: {
        ...{ host: "mail.example.com", port: 465, isTls: true, requiresTls: true },
        ...{ user: "user", password: "hidden/" },
      },
    });
    expect(errorOf({ SMTP_URL, MAIL_FROM: "not an address" })).to.contain("MAIL_FROM must be an address");
    for (const bad of [SMTP_URL, `${SMTP_URL}/path`, SMTP_URL.replace("%2F", "%zz")]) {
      const message = errorOf({ SMTP_URL: bad });
      expect(message).to.contain("SMTP_URL ").and.not.to.contain("hidden");
    }
  });

  const rejected: [string, string | undefined][] = [
    ["MONGODB_URL", undefined],
    ["MONGODB_URL", "postgres://127.0.0.1"],
    ["REDIS_URL", "http://127.0.0.1"],
    ["REDIS_URL", "redis://127.0.0.1:6379,banana"],
    ["REDIS_URL", "redis://:99999"],
    ["REDIS_URL", "redis://a:1,rediss://b:2"],
    ["REDIS_URL", "redis+sentinel://a:26379"],
    ["REDIS_URL", "redis://a:1?keyPrefix=x"],
    ["ALERT_FAILING_AFTER", "soon"],
    ["SMTP_URL", "mail.example.com"],
    ["SMTP_URL", "smtp://mail.example.com"],
    ["MAIL_FROM", "a@example.com"],
    ["REDIS_MODE", "clustered"],
    ["ACCEPT_REPLICAS", "-1"],
    ["ACCEPT_REPLICAS", "one"],
    // Notations that would be coerced to a number.
    ["ACCEPT_REPLICAS", "0x2"],
    ["ACCEPT_REPLICAS", "1e1"],
    ["OTEL_TRACES_SAMPLER_ARG", "0x1"],
    ["DURABLE_INGRESS", "postgres"],
    ["REDIS_TLS_CA_FILE", "/no/such/file"],
    ["REDIS_TLS_CA_FILE", tmpdir()],
    ["REDIS_PREFIX", "Upper_Case"],
    ["QUEUE_SHARDS", "deliveries"],
    ["QUEUE_SHARDS", "deliveries:0"],
    ["QUEUE_SHARDS", `deliveries:${LIMITS.queueShards.value + 1}`],
    ["QUEUE_SHARDS", "deletions:2"],
    ["QUEUE_SHARDS", "runs:2,runs:4"],
    ["WORKER_SHARDS", "first"],
    ["WORKER_SHARDS", ","],
    ["WORKER_SHARDS", String(LIMITS.queueShards.value)],
    ["MONGODB_URL", "mongodb://a/x?w=1"],
    ["MONGODB_URL", "mongodb://a/x?journal=false"],
    ["MONGODB_URL", "mongodb://a/x?retryWrites=false"],
    ["MONGODB_URL", "mongodb://a/x?readPreference=secondaryPreferred"],
    ["MONGODB_URL", "mongodb://a/x?readConcernLevel=local"],
    ["SECRETS_KEY", undefined],
    ["SECRETS_KEY", "short"],
    ["SECRETS_KEY", randomBytes(31).toString("base64")],
    ["SECRETS_KEY", randomBytes(33).toString("base64")],
    ["SECRETS_KEY", `${KEY},${randomBytes(16).toString("base64")}`],
    ["SECRETS_KEY", ","],
    ["PORT", "65536"],
    ["PORT", "80.5"],
    ["PORT", "http"],
    ["PUBLIC_URL", "example.org"],
    ["PUBLIC_URL", "https://exa mple.org"],
    ["PUBLIC_URL", "https://example.org/?a=1"],
    ["INGRESS_URL", "in.example.org"],
    ["INGRESS_URL", "https://in.example.org/?a=1"],
    // The default of PUBLIC_URL; another port is not another host.
    ["INGRESS_URL", "http://127.0.0.1:4000"],
    ["TRUST_PROXY", "maybe"],
    ["ADMIN_PASSWORD", "short"],
    ["METRICS_TOKEN", "with a space, though long enough"],
    ["METRICS_TOKEN", "short"],
    ["EGRESS_ALLOW", "10.0.0.0/33"],
    ["EGRESS_ALLOW", "localhost"],
    ["SANDBOX_EGRESS_ALLOW", "::1/129"],
    ["DELIVERY_RETRY_SCHEDULE", "5s,,5m"],
    ["DELIVERY_RETRY_SCHEDULE", "5 s"],
    ["DELIVERY_RETRY_SCHEDULE", "0s"],
    ["DELIVERY_TIMEOUT", "fast"],
    ["DELIVERY_TIMEOUT", "0ms"],
    ["STALLED_AFTER", "-5s"],
    // A process that sweeps without a pause would do nothing else.
    ["SWEEP_EVERY", "0s"],
    // Above the longest time-out of Node, which would fire at once.
    ["RUN_TIMEOUT", "25d"],
    ["RUN_HEAP_MB", "1"],
    ["SANDBOX_SHARED_SOURCES", "0"],
    ["RUNS_CONCURRENCY", "0"],
    ["PAYLOAD_SEARCH_WORDS", "65"],
    ["FREE_DAILY_INVOCATIONS", "-1"],
    ["LOG_LEVEL", "loud"],
    ["WORKER_PORT", "65536"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "no pair"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "key=%zz"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "key=a%0d%0ab"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
    ["OTEL_TRACES_SAMPLER", "sometimes"],
    ["OTEL_TRACES_SAMPLER_ARG", "2"],
    ["OTEL_BSP_SCHEDULE_DELAY", "99"],
    ["OTEL_BSP_SCHEDULE_DELAY", "5s"],
    ["TRACE_URL", "https://traces.example.com/"],
    ["TRACE_URL", "traces/{trace_id}"],
  ];
  for (const [name, value] of rejected) {
    it(`reject ${name}=${name === "SECRETS_KEY" ? `${value?.length} characters` : value} by name`, () => {
      const message = errorOf({ [name]: value });
      expect(message).to.match(new RegExp(`\\b${name}\\b`));
      const others = [...Object.keys(GOOD), "PUBLIC_URL", "PORT"].filter(
        other => !name.includes(other) && !other.includes(name),
      );
      for (const other of others) expect(message).not.to.match(new RegExp(`\\b${other}\\b`));
    });
  }

  const CONTRADICTIONS: [string, Record<string, string>][] = [
    [
      "REDIS_MODE is sentinel, but REDIS_URL does not begin with redis+sentinel://",
      { REDIS_MODE: "sentinel" },
    ],
    [
      "REDIS_MODE is single, but REDIS_URL names several servers",
      { REDIS_MODE: "single", REDIS_URL: "redis://a,redis://b" },
    ],
    [
      "REDIS_MODE is cluster, but REDIS_URL begins with redis+sentinel://",
      { REDIS_MODE: "cluster", REDIS_URL: "redis+sentinel://a/m" },
    ],
    [
      "REDIS_MODE is cluster, but REDIS_URL names a database other than 0",
      { REDIS_MODE: "cluster", REDIS_URL: "redis://a/2" },
    ],
    ["REDIS_TLS_VERIFY applies only to TLS: REDIS_URL must begin with rediss", { REDIS_TLS_VERIFY: "false" }],
    [
      "REDIS_SENTINEL_PASSWORD applies only to Sentinels: REDIS_URL must begin with redis+sentinel",
      { REDIS_SENTINEL_PASSWORD: "hunter2" },
    ],
  ];
  for (const [message, env] of CONTRADICTIONS) {
    it(`are rejected if they contradict each other: ${message}`, () => {
      expect(errorOf(env)).to.equal(`configuration: ${message} (see .env.example)`);
    });
  }

  it("say of a duration whether its unit is missing", () => {
    for (const [value, message] of [
      ["30", "RUN_TIMEOUT must have a unit, such as 30s: ms, s, m, h or d"],
      ["soon", "RUN_TIMEOUT must be a duration, such as 30s"],
      ["25d", "RUN_TIMEOUT must be more than 0 and at most 24d"],
    ] as const) {
      expect(errorOf({ RUN_TIMEOUT: value })).to.include(message);
    }
    expect(errorOf({ DELIVERY_RETRY_SCHEDULE: "5s,9" })).to.include("such as 9s");
  });

  it("trust the certificates of a file for Redis, and only those", async () => {
    const folder = await mkdtemp(join(tmpdir(), "hw-config-"));
    const file = join(folder, "ca.pem");
    try {
      await writeFile(file, TEST_TLS.cert);
      const { redis } = readConfig({ ...GOOD, REDIS_URL: "rediss://a", REDIS_TLS_CA_FILE: file });
      expect(redis.tls).to.deep.equal({ rejectUnauthorized: true, ca: TEST_TLS.cert });
      expect(errorOf({ REDIS_TLS_CA_FILE: file })).to.include("REDIS_URL must begin with rediss");
      await writeFile(file, "no certificate");
      expect(errorOf({ REDIS_URL: "rediss://a", REDIS_TLS_CA_FILE: file })).to.include("PEM certificates");
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  const MISSPELLED: [string, string][] = [
    ["RATE_LIMIT_BURTS", "RATE_LIMIT_BURST"],
    ["SECRET_KEY_", "SECRETS_KEY"],
    ["EGRES_ALLOW", "EGRESS_ALLOW"],
    ["delivery_timeout", "DELIVERY_TIMEOUT"],
    ["SWEEPEVERY", "SWEEP_EVERY"],
  ];
  for (const [name, meant] of MISSPELLED) {
    it(`reject ${name} in the environment, which is like ${meant}`, () => {
      const given = meant === "SECRETS_KEY" ? { SECRETS_KEY: undefined } : {};
      expect(errorOf({ ...given, [name]: "1" })).to.include(
        `${name} is not a setting: did you mean ${meant}?`,
      );
    });
  }

  it("ignore other names in the environment, which is shared, and those like a setting that is given", () => {
    const shared = {
      ...{ HOME: "/root", HOSTS: "a", PORTS: "b", SORT: "c", MONGODB_URI: "mongodb://other", REDIS_URI: "x" },
      ...{
        HEADWATER_PORT: "tcp://10.0.0.1:3000",
        HEADWATER_SERVICE_HOST: "10.0.0.1",
        REDIS_PORT: "tcp://x:1",
      },
      ...{ TEST_REDIS_URL: "x", XDG_CACHE_DIR: "/c", RUN_TIMEOUTS: "" },
    };
    expect(errorOf(shared)).to.equal("");
  });

  it("reject every unknown name in a .env, with a suggestion if one is like it", () => {
    const fileNames = ["PORT", "NODE_OPTIONS", "https_proxy", "HEADWATER_API_KEY", "PROT", "QUOTA"];
    expect(() => readConfig(GOOD, { fileNames })).to.throw(
      ConfigError,
      "configuration: PROT is not a setting: did you mean PORT?; QUOTA is not a setting (see .env.example)",
    );
    expect(() => readConfig({ ...GOOD, RUN_TIMOUT: "1s" }, { fileNames: ["RUN_TIMOUT"] })).to.throw(
      "configuration: RUN_TIMOUT is not a setting: did you mean RUN_TIMEOUT? (see .env.example)",
    );
  });

  it("are all reported at once, in one line that shows no value", () => {
    const message = errorOf({
      MONGODB_URL: "mysql://user:hunter22@host",
      REDIS_URL: undefined,
      SECRETS_KEY: "c2VjcmV0",
      PORT: "x",
      EGRESS_ALLOW: "everything",
      SWEEP_EVERY: "0s",
      ADMIN_PASSWORD: "hunter2",
      METRICS_TOKEN: "hunter23",
    });
    for (const name of ["MONGODB_URL", "REDIS_URL", "SECRETS_KEY", "PORT", "EGRESS_ALLOW", "SWEEP_EVERY"]) {
      expect(message).to.match(new RegExp(`\\b${name}\\b`));
    }
    expect(message).not.to.match(/hunter|c2VjcmV0|\n/);
    expect(errorOf({ QUEUE_SHARDS: "deliveries:\u001b[31m" })).not.to.include("\u001b");
  });

  it("are read without the blanks around a URL, and with options of MongoDB's URL that say what is done anyway", () => {
    const { redis, mongodbUrl } = readConfig({
      ...GOOD,
      REDIS_URL: " redis://a:6379 ",
      MONGODB_URL: " mongodb://a/x?retryWrites=true&w=majority&appName=x ",
    });
    expect(redis.servers).to.deep.equal([{ host: "a", port: 6379 }]);
    expect(mongodbUrl).to.equal("mongodb://a/x?retryWrites=true&w=majority&appName=x");
  });

  it("are reported with what would be right", () => {
    expect(errorOf({ REDIS_MODE: "many" })).to.match(/REDIS_MODE must be one of single, cluster, sentinel /);
    expect(errorOf({ MONGODB_URL: "127.0.0.1:27017" })).to.match(/MONGODB_URL must be a mongodb:\/\/ or /);
    expect(errorOf({ MONGODB_URL: "mongodb://u:hun@ter/2@127.0.0.1/x" })).to.match(
      /MONGODB_URL must have a percent-encoded user /,
    );
    expect(errorOf({ REDIS_URL: "127.0.0.1:6379" })).to.match(/REDIS_URL must be one or more redis:\/\/ or /);
    expect(errorOf({ SECRETS_KEY: "ä" })).to.match(/SECRETS_KEY must be one or more keys of 32 bytes/);
  });

  it("accept a list of keys, each of 32 bytes", () => {
    const [first, second] = readConfig({ ...GOOD, SECRETS_KEY: `${KEY}, ${KEY}` }).secretsKeys;
    expect(first).to.deep.equal(second).and.have.length(32);
  });

  it("accept headers of a collector, and other names of OpenTelemetry's in a .env", () => {
    const given = { ...GOOD, OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic%20abc, x-team=a" };
    const { tracing } = readConfig(given, { fileNames: ["OTEL_EXPORTER_OTLP_TIMEOUT"] });
    expect(tracing.headers).to.deep.equal({ authorization: "Basic abc", "x-team": "a" });
  });

  it("are frozen, lists and groups too", () => {
    const config = readConfig({ ...GOOD, EGRESS_ALLOW: "10.0.0.0/8" });
    const parts: object[] = [config, ...Object.values(config).filter(value => typeof value === "object")];
    for (const part of parts) expect(Object.isFrozen(part), JSON.stringify(part)).to.equal(true);
    expect(Object.isFrozen(config.deliveries.retryScheduleMs)).to.equal(true);
    expect(() => config.egressAllow.push("0.0.0.0/0")).to.throw(TypeError);
  });

  it("pass npm its own settings only, and no secrets", () => {
    const { npmEnvironment } = readConfig({
      ...GOOD,
      PATH: "/bin",
      npm_config_registry: "http://127.0.0.1:4873",
      ADMIN_PASSWORD: "long enough",
      AWS_SECRET_ACCESS_KEY: "x",
    });
    expect(npmEnvironment).to.deep.equal({ PATH: "/bin", npm_config_registry: "http://127.0.0.1:4873" });
  });
});

describe("the settings of an OpenID provider", () => {
  const PROVIDER = {
    OIDC_ISSUER: "https://login.example.com/tenant",
    OIDC_CLIENT_ID: "headwater",
    OIDC_ALLOWED_DOMAINS: "Example.com, example.org",
    PUBLIC_URL: "https://headwater.example.com",
  };

  it("are absent without an issuer, and read by one", () => {
    expect(readConfig(GOOD).openid).to.equal(undefined);
    const { openid } = readConfig({
      ...GOOD,
      ...PROVIDER,
      OIDC_ORGANIZATIONS: "@example.com=o_0CjB8tYr3KpL7xVd, groups:site ops=o_0CjB8tYr3KpL7xVe",
    });
    expect(openid).to.deep.equal({
      issuer: PROVIDER.OIDC_ISSUER,
      clientId: "headwater",
      clientSecret: undefined,
      scopes: "openid email profile",
      name: "login.example.com",
      rules: {
        domains: ["example.com", "example.org"],
        emails: [],
        organizations: [
          { claim: null, value: "example.com", orgId: "o_0CjB8tYr3KpL7xVd" },
          { claim: "groups", value: "site ops", orgId: "o_0CjB8tYr3KpL7xVe" },
        ],
      },
      createsAccounts: true,
      linksAccounts: false,
      egressAllow: [],
    });
  });

  it("are rejected, by name, where they would be unsafe or let in no one", () => {
    expect(errorOf(PROVIDER)).to.equal("");
    expect(errorOf({ ...PROVIDER, OIDC_ISSUER: "http://127.0.0.1:4000" })).to.equal("");
    const bad: [Record<string, string | undefined>, string][] = [
      [{ OIDC_ISSUER: "login.example.com" }, "OIDC_ISSUER must be an http or https URL without a query"],
      [
        { OIDC_ISSUER: "http://login.example.com" },
        "OIDC_ISSUER must be an https URL, or http on this machine",
      ],
      [{ OIDC_ISSUER: "https://me@login.example.com" }, "OIDC_ISSUER must not contain a user name"],
      [{ OIDC_ISSUER: undefined }, "OIDC_CLIENT_ID needs OIDC_ISSUER"],
      [{ OIDC_CLIENT_ID: undefined }, "OIDC_ISSUER needs OIDC_CLIENT_ID"],
      [{ OIDC_ALLOWED_DOMAINS: undefined }, "OIDC_ISSUER needs a rule for who may sign in"],
      [{ OIDC_ALLOWED_DOMAINS: " , " }, "OIDC_ISSUER needs a rule for who may sign in"],
      [{ PUBLIC_URL: "http://headwater.example.com" }, "OIDC_ISSUER needs a PUBLIC_URL with https"],
      [{ OIDC_ALLOWED_DOMAINS: "@example.com" }, "OIDC_ALLOWED_DOMAINS must be domains without @"],
      [{ OIDC_ALLOWED_DOMAINS: "*.example.com" }, "OIDC_ALLOWED_DOMAINS must be domains without @"],
      [{ OIDC_ALLOWED_EMAILS: "anna" }, "OIDC_ALLOWED_EMAILS must be email addresses"],
      [
        { OIDC_ORGANIZATIONS: "example.com=o_1" },
        "OIDC_ORGANIZATIONS has an entry that can't be read: example.com=o_1",
      ],
      [{ OIDC_SCOPES: "openid profile" }, "OIDC_SCOPES must contain openid and email"],
      [{ OIDC_EGRESS_ALLOW: "intranet" }, "OIDC_EGRESS_ALLOW must be CIDRs"],
      [{ OIDC_CREATE_ACCOUNTS: "perhaps" }, "OIDC_CREATE_ACCOUNTS must be boolean"],
    ];
    for (const [env, message] of bad) {
      expect(errorOf({ ...PROVIDER, ...env }), JSON.stringify(env)).to.include(message);
    }
  });
});

describe(".env.example", () => {
  it("names every setting, and nothing else", () => {
    const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
    const documented = [...read("../.env.example").matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name);
    expect(settingNames).to.include.members(["PORT", "LOG_LEVEL", "RUNS_CONCURRENCY"]);
    expect(documented).to.have.members(settingNames);
  });
});

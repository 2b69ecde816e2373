import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { ConfigError, readConfig } from "../src/config.ts";
import { LIMITS } from "../src/limits/catalogue.ts";
import { settingNames } from "../src/setting-schema.ts";
import { TEST_TLS } from "./egress/test-tls.ts";
import { REQUIRED_SETTINGS, settingsError } from "./support/settings.ts";

describe("settings", () => {
  it("have defaults, except for the stores and the key", () => {
    const config = readConfig(REQUIRED_SETTINGS);
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
    [
      "EGRESS_PROXY",
      "http://proxy:3128",
      config => config.egressProxy,
      { host: "proxy", port: 3128, isTls: false, authorization: undefined },
    ],
    ["DELIVERY_RETRY_SCHEDULE", "500ms, 5s", config => config.deliveries.retryScheduleMs, [500, 5000]],
    ["TIMEOUTS", "run:2m", config => config.sandbox.runMs, 120_000],
    ["TIMEOUTS", "run:2m", config => config.sandbox.hookMs, 60_000],
    ["CONCURRENCY", "runs:7, sandboxes:3", config => config.concurrency.runs, 7],
    ["CONCURRENCY", "runs:7, sandboxes:3", config => config.sandbox.processes, 3],
    ["CONCURRENCY", "webhook:9", config => config.deliveries.perWebhook, 9],
    [
      "SIZES_MB",
      "heap:64",
      config => config.sandbox,
      {
        runMs: 300_000,
        hookMs: 60_000,
        heapMb: 64,
        processes: 16,
        memoryMb: undefined,
        firstUserId: 200_000,
      },
    ],
    ["RATE_LIMITS", "api:0,endpoint:5", config => config.ingressPerSecond, 5],
    ["RATE_LIMITS", "api:7", config => config.rateLimit, { perSecond: 7, burst: 14 }],
    [
      "FREE_LIMITS",
      "daily_compute_ms=5",
      config => config.quotas,
      { dailyInvocations: 10_000, dailyComputeMs: 5 },
    ],
    ["SIZES_MB", "warm:512", config => config.sandbox.memoryMb, 512],
    ["TIMEOUTS", "stalled:1h", config => config.stalledAfterMs, 3_600_000],
    ["TIMEOUTS", "disable:5d", config => config.deliveries.disableAfterMs, 432_000_000],
    ["QUEUE_SHARDS", "deliveries:4, runs:2", config => config.queueShards, { deliveries: 4, runs: 2 }],
    ["WORKER_SHARDS", "0,2", config => config.workerShards, [0, 2]],
    ["HOST", "", config => config.host, "127.0.0.1"],
    ["REDIS_URL", "redis://a:1, redis://b:2", config => config.redis.mode, "cluster"],
    ["REDIS_URL", "rediss://u:p@a:1/3", config => config.redis.tls, { rejectUnauthorized: true }],
    ["DURABLE_INGRESS", "replicas:2", config => config.acceptReplicas, 2],
    ["DURABLE_INGRESS", "mongodb,replicas:1", config => config.durableIngress, true],
    ["DURABLE_INGRESS", "redis", config => config.durableIngress, false],
    ["TIMEOUTS", "alert:10m", config => config.alerts.webhookFailingAfterMs, 600_000],
  ];
  for (const [name, value, read, wanted] of accepted) {
    it(`accept ${name}=${JSON.stringify(value)}`, () => {
      expect(read(readConfig({ ...REQUIRED_SETTINGS, [name]: value }))).to.deep.equal(wanted);
    });
  }

  it("have a mail server only with a sender, and never show its password", () => {
    const server = "smtps://user:hidden%2F@mail.example.com";
    const SMTP_URL = `${server}?from=Headwater <alerts+all@example.com>`;
    expect(readConfig(REQUIRED_SETTINGS).mail).to.equal(undefined);
    expect(readConfig({ ...REQUIRED_SETTINGS, SMTP_URL }).mail).to.deep.equal({
      from: "Headwater <alerts+all@example.com>",
      server: {
        ...{ host: "mail.example.com", port: 465, isTls: true, requiresTls: true },
        ...{ user: "user", password: "hidden/" },
      },
    });
    expect(settingsError({ SMTP_URL: server })).to.contain("SMTP_URL needs the sender");
    expect(settingsError({ SMTP_URL: `${server}?from=not an address` })).to.contain(
      "SMTP_URL has a sender that is",
    );
    for (const bad of [server, `${server}/path?from=a@b.c`, SMTP_URL.replace("%2F", "%zz")]) {
      const message = settingsError({ SMTP_URL: bad });
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
    ["TIMEOUTS", "alert:soon"],
    ["SMTP_URL", "mail.example.com"],
    ["SMTP_URL", "smtp://mail.example.com"],
    ["DURABLE_INGRESS", "replicas:-1"],
    ["DURABLE_INGRESS", "replicas:one"],
    ["DURABLE_INGRESS", "replicas:17"],
    ["DURABLE_INGRESS", "replicas:1,replicas:2"],
    // Notations that would be coerced to a number.
    ["DURABLE_INGRESS", "replicas:0x2"],
    ["SANDBOX_FIRST_UID", "1e5"],
    ["OTEL_TRACES_SAMPLER_ARG", "0x1"],
    ["DURABLE_INGRESS", "postgres"],
    ["REDIS_TLS", "/no/such/file"],
    ["REDIS_TLS", tmpdir()],
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
    ["SECRETS_KEY", `${REQUIRED_SETTINGS.SECRETS_KEY},${randomBytes(16).toString("base64")}`],
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
    ["EGRESS_BLOCK", "10.0.0.0/33"],
    ["EGRESS_ALLOW", "localhost"],
    ["SANDBOX_EGRESS_ALLOW", "::1/129"],
    ["EGRESS_PROXY", "proxy:3128"],
    ["EGRESS_PROXY", "socks5://proxy:1080"],
    ["EGRESS_PROXY", "http://proxy:3128/path"],
    ["DELIVERY_RETRY_SCHEDULE", "5s,,5m"],
    ["DELIVERY_RETRY_SCHEDULE", "5 s"],
    ["DELIVERY_RETRY_SCHEDULE", "0s"],
    ["TIMEOUTS", "attempt:fast"],
    ["TIMEOUTS", "attempt:0ms"],
    ["TIMEOUTS", "stalled:-5s"],
    ["TIMEOUTS", "run:5s,run:6s"],
    ["TIMEOUTS", "sleep:5s"],
    // A process that sweeps without a pause would do nothing else.
    ["SWEEP_EVERY", "0s"],
    // Above the longest time-out of Node, which would fire at once.
    ["TIMEOUTS", "run:25d"],
    ["SIZES_MB", "heap:1"],
    ["CONCURRENCY", "runs:0"],
    ["PAYLOAD_SEARCH_WORDS", "65"],
    ["FREE_LIMITS", "daily_invocations=-1"],
    ["PAID_LIMITS", "daily_invocations=1"],
    ["LOG_LEVEL", "loud"],
    ["WORKER_PORT", "65536"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
    ["OTEL_TRACES_SAMPLER_ARG", "2"],
    ["TRACE_URL", "https://traces.example.com/"],
    ["TRACE_URL", "traces/{trace_id}"],
  ];
  for (const [name, value] of rejected) {
    it(`reject ${name}=${name === "SECRETS_KEY" ? `${value?.length} characters` : value} by name`, () => {
      const message = settingsError({ [name]: value });
      expect(message).to.match(new RegExp(`\\b${name}\\b`));
      const others = [...Object.keys(REQUIRED_SETTINGS), "PUBLIC_URL", "PORT"].filter(
        other => !name.includes(other) && !other.includes(name),
      );
      for (const other of others) expect(message).not.to.match(new RegExp(`\\b${other}\\b`));
    });
  }

  const CONTRADICTIONS: [string, Record<string, string>][] = [
    ["REDIS_TLS applies only to TLS: REDIS_URL must begin with rediss", { REDIS_TLS: "unverified" }],
  ];
  for (const [message, env] of CONTRADICTIONS) {
    it(`are rejected if they contradict each other: ${message}`, () => {
      expect(settingsError(env)).to.equal(`configuration: ${message} (see .env.example)`);
    });
  }

  it("say of a duration whether its unit is missing", () => {
    for (const [value, message] of [
      ["30", "TIMEOUTS is wrong for run: it must have a unit, such as 30s: ms, s, m, h or d"],
      ["soon", "TIMEOUTS is wrong for run: it must be a duration, such as 30s"],
      ["25d", "TIMEOUTS is wrong for run: it must be more than 0 and at most 24d"],
    ] as const) {
      expect(settingsError({ TIMEOUTS: `run:${value}` })).to.include(message);
    }
    expect(settingsError({ DELIVERY_RETRY_SCHEDULE: "5s,9" })).to.include("such as 9s");
  });

  it("trust the certificates of a file for Redis, and only those", async () => {
    const folder = await mkdtemp(join(tmpdir(), "hw-config-"));
    const file = join(folder, "ca.pem");
    try {
      await writeFile(file, TEST_TLS.cert);
      const { redis } = readConfig({ ...REQUIRED_SETTINGS, REDIS_URL: "rediss://a", REDIS_TLS: file });
      expect(redis.tls).to.deep.equal({ rejectUnauthorized: true, ca: TEST_TLS.cert });
      expect(settingsError({ REDIS_TLS: file })).to.include("REDIS_URL must begin with rediss");
      await writeFile(file, "no certificate");
      expect(settingsError({ REDIS_URL: "rediss://a", REDIS_TLS: file })).to.include("PEM certificates");
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  const MISSPELLED: [string, string][] = [
    ["RATE_LIMIT", "RATE_LIMITS"],
    ["SECRET_KEY_", "SECRETS_KEY"],
    ["EGRES_ALLOW", "EGRESS_ALLOW"],
    ["delivery_retry_schedul", "DELIVERY_RETRY_SCHEDULE"],
    ["SWEEPEVERY", "SWEEP_EVERY"],
  ];
  for (const [name, meant] of MISSPELLED) {
    it(`reject ${name} in the environment, which is like ${meant}`, () => {
      const given = meant === "SECRETS_KEY" ? { SECRETS_KEY: undefined } : {};
      expect(settingsError({ ...given, [name]: "1" })).to.include(
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
      ...{ TEST_REDIS_URL: "x", XDG_CACHE_DIR: "/c", TIMEOUT: "" },
    };
    expect(settingsError(shared)).to.equal("");
  });

  it("reject every unknown name in a .env, with a suggestion if one is like it", () => {
    const fileNames = ["PORT", "NODE_OPTIONS", "https_proxy", "HEADWATER_API_KEY", "PROT", "QUOTA"];
    expect(() => readConfig(REQUIRED_SETTINGS, { fileNames })).to.throw(
      ConfigError,
      "configuration: PROT is not a setting: did you mean PORT?; QUOTA is not a setting (see .env.example)",
    );
    expect(() =>
      readConfig({ ...REQUIRED_SETTINGS, TIMOUTS: "run:1s" }, { fileNames: ["TIMOUTS"] }),
    ).to.throw("configuration: TIMOUTS is not a setting: did you mean TIMEOUTS? (see .env.example)");
  });

  it("are all reported at once, in one line that shows no value", () => {
    const message = settingsError({
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
    expect(settingsError({ QUEUE_SHARDS: "deliveries:\u001b[31m" })).not.to.include("\u001b");
  });

  it("are read without the blanks around a URL, and with options of MongoDB's URL that say what is done anyway", () => {
    const { redis, mongodbUrl } = readConfig({
      ...REQUIRED_SETTINGS,
      REDIS_URL: " redis://a:6379 ",
      MONGODB_URL: " mongodb://a/x?retryWrites=true&w=majority&appName=x ",
    });
    expect(redis.servers).to.deep.equal([{ host: "a", port: 6379 }]);
    expect(mongodbUrl).to.equal("mongodb://a/x?retryWrites=true&w=majority&appName=x");
  });

  it("are reported with what would be right", () => {
    expect(settingsError({ LOG_LEVEL: "loud" })).to.match(/LOG_LEVEL must be one of fatal, error, /);
    expect(settingsError({ TIMEOUTS: "sleep:1s" })).to.match(
      /TIMEOUTS must be a list of name:value, with the names attempt, run, /,
    );
    expect(settingsError({ MONGODB_URL: "127.0.0.1:27017" })).to.match(
      /MONGODB_URL must be a mongodb:\/\/ or /,
    );
    expect(settingsError({ MONGODB_URL: "mongodb://u:hun@ter/2@127.0.0.1/x" })).to.match(
      /MONGODB_URL must have a percent-encoded user /,
    );
    expect(settingsError({ REDIS_URL: "127.0.0.1:6379" })).to.match(
      /REDIS_URL must be one or more redis:\/\/ or /,
    );
    expect(settingsError({ SECRETS_KEY: "ä" })).to.match(/SECRETS_KEY must be one or more keys of 32 bytes/);
  });

  it("accept a list of keys, each of 32 bytes", () => {
    const [first, second] = readConfig({
      ...REQUIRED_SETTINGS,
      SECRETS_KEY: `${REQUIRED_SETTINGS.SECRETS_KEY}, ${REQUIRED_SETTINGS.SECRETS_KEY}`,
    }).secretsKeys;
    expect(first).to.deep.equal(second).and.have.length(32);
  });

  it("accept other names of OpenTelemetry's in a .env, which its exporter reads", () => {
    const fileNames = ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_SERVICE_NAME"];
    expect(() => readConfig(REQUIRED_SETTINGS, { fileNames })).not.to.throw();
  });

  it("are frozen, lists and groups too", () => {
    const config = readConfig({ ...REQUIRED_SETTINGS, EGRESS_ALLOW: "10.0.0.0/8" });
    const parts: object[] = [config, ...Object.values(config).filter(value => typeof value === "object")];
    for (const part of parts) expect(Object.isFrozen(part), JSON.stringify(part)).to.equal(true);
    expect(Object.isFrozen(config.deliveries.retryScheduleMs)).to.equal(true);
    expect(() => config.egressAllow.push("0.0.0.0/0")).to.throw(TypeError);
  });

  it("pass npm its own settings only, and no secrets", () => {
    const { npmEnvironment } = readConfig({
      ...REQUIRED_SETTINGS,
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
    OIDC_ALLOW: "@Example.com, @example.org",
    PUBLIC_URL: "https://headwater.example.com",
  };

  it("are absent without an issuer, and read by one", () => {
    expect(readConfig(REQUIRED_SETTINGS).openid).to.equal(undefined);
    const { openid } = readConfig({
      ...REQUIRED_SETTINGS,
      ...PROVIDER,
      OIDC_ALLOW: `${PROVIDER.OIDC_ALLOW}, @example.com=o_0CjB8tYr3KpL7xVd, groups:site ops=o_0CjB8tYr3KpL7xVe`,
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
    expect(settingsError(PROVIDER)).to.equal("");
    expect(settingsError({ ...PROVIDER, OIDC_ISSUER: "http://127.0.0.1:4000" })).to.equal("");
    const bad: [Record<string, string | undefined>, string][] = [
      [{ OIDC_ISSUER: "login.example.com" }, "OIDC_ISSUER must be an http or https URL without a query"],
      [
        { OIDC_ISSUER: "http://login.example.com" },
        "OIDC_ISSUER must be an https URL, or http on this machine",
      ],
      [{ OIDC_ISSUER: "https://me@login.example.com" }, "OIDC_ISSUER must not contain a user name"],
      [{ OIDC_ISSUER: undefined }, "OIDC_CLIENT_ID needs OIDC_ISSUER"],
      [{ OIDC_CLIENT_ID: undefined }, "OIDC_ISSUER needs OIDC_CLIENT_ID"],
      [{ OIDC_ALLOW: undefined }, "OIDC_ISSUER needs a rule for who may sign in"],
      [{ OIDC_ALLOW: " , " }, "OIDC_ISSUER needs a rule for who may sign in"],
      [{ PUBLIC_URL: "http://headwater.example.com" }, "OIDC_ISSUER needs a PUBLIC_URL with https"],
      ...["example.com", "@*.example.com", "anna", "example.com=o_1"].map((rule): (typeof bad)[number] => [
        { OIDC_ALLOW: rule },
        `OIDC_ALLOW has an entry that can't be read: ${rule}`,
      ]),
      [{ OIDC_SCOPES: "openid profile" }, "OIDC_SCOPES must contain openid and email"],
      [{ OIDC_EGRESS_ALLOW: "intranet" }, "OIDC_EGRESS_ALLOW must be CIDRs"],
      [{ OIDC_ACCOUNTS: "perhaps" }, "OIDC_ACCOUNTS must be create, link, create,link or none"],
    ];
    for (const [env, message] of bad) {
      expect(settingsError({ ...PROVIDER, ...env }), JSON.stringify(env)).to.include(message);
    }
  });
});

describe(".env.example", () => {
  it("names every setting, and nothing else", () => {
    const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
    const documented = [...read("../.env.example").matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name);
    // EGRESS_PROXY is the 46th: behind a firewall that lets only a proxy out, nothing is delivered without it.
    // GALLERY is the 47th: an operator may want no component published but their own.
    // MCP is the 48th: an operator may want no agents, whatever keys they have.
    expect(settingNames.length, "before a setting: who would change it?").to.be.at.most(48);
    expect(settingNames).to.include.members(["PORT", "LOG_LEVEL", "CONCURRENCY"]);
    expect(documented).to.have.members(settingNames);
  });
});

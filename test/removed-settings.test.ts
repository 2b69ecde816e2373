import { expect } from "chai";
import { readConfig } from "../src/config.ts";
import { REMOVED } from "../src/removed-settings.ts";
import { settingNames } from "../src/setting-schema.ts";
import { REQUIRED_SETTINGS, settingsError } from "./support/settings.ts";

describe("a start with settings of an earlier release", () => {
  it("says in one line what to write now, with the old values, once for each new setting", () => {
    expect(
      settingsError({
        RUNS_CONCURRENCY: "64",
        DELIVERY_PER_WEBHOOK: "8",
        RUN_TIMEOUT: "60s",
        REDIS_MODE: "cluster",
      }),
    ).to.equal(
      "configuration: REDIS_MODE is not a setting any more: REDIS_URL and its servers say it; " +
        "RUN_TIMEOUT is not a setting any more: write TIMEOUTS=run:60s; " +
        "DELIVERY_PER_WEBHOOK and RUNS_CONCURRENCY are not settings any more: write CONCURRENCY=webhook:8,runs:64 " +
        "(see .env.example)",
    );
  });

  const WRITTEN: [Record<string, string>, string][] = [
    [{ OIDC_ALLOWED_DOMAINS: "a.test, *", OIDC_ALLOWED_EMAILS: "b@c.test" }, "OIDC_ALLOW=@a.test,*,b@c.test"],
    [{ OIDC_CREATE_ACCOUNTS: "false" }, "OIDC_ACCOUNTS=none"],
    [{ OIDC_LINK_ACCOUNTS: "true" }, "OIDC_ACCOUNTS=create,link"],
    [{ OIDC_CREATE_ACCOUNTS: "false", OIDC_LINK_ACCOUNTS: "true" }, "OIDC_ACCOUNTS=link"],
    [{ REDIS_TLS_VERIFY: "false" }, "REDIS_TLS=unverified"],
    [{ ACCEPT_REPLICAS: "2" }, "DURABLE_INGRESS=replicas:2"],
    [{ ACCEPT_REPLICAS: "2", DURABLE_INGRESS: "mongodb" }, "DURABLE_INGRESS=mongodb,replicas:2"],
    [{ TIMEOUTS: "hook:1s", RUN_TIMEOUT: "2s" }, "TIMEOUTS=hook:1s,run:2s"],
    [{ FREE_DAILY_INVOCATIONS: "5", FREE_LIMITS: "sources=3" }, "FREE_LIMITS=sources=3,daily_invocations=5"],
    [{ EGRESS_BLOCKED_PORTS: "none" }, "EGRESS_BLOCK=none"],
  ];
  for (const [env, written] of WRITTEN) {
    it(`has ${written} written for ${Object.keys(env).join(" and ")}`, () => {
      expect(settingsError(env)).to.include(`write ${written} (see`);
      // It does what it says.
      const [, name = "", value = ""] = /^([A-Z_]+)=(.*)$/.exec(written) ?? [];
      const more = { REDIS_URL: "rediss://a", OIDC_ISSUER: "http://127.0.0.1", OIDC_CLIENT_ID: "a" };
      expect(settingsError({ ...more, OIDC_ALLOW: "*", [name]: value })).to.equal("");
    });
  }

  it("goes on if they say what holds anyway, and does not take them for misspelled", () => {
    const same = {
      ...{ REDIS_TLS_VERIFY: "true", ACCEPT_REPLICAS: "0", OIDC_CREATE_ACCOUNTS: "true", SANDBOX_IDLE: "5m" },
      ...{ OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf", RATE_LIMIT_BURST: "200", RUN_TIMEOUT: "" },
    };
    expect(settingsError(same)).to.equal("");
    expect(() =>
      readConfig({ ...REQUIRED_SETTINGS, ...same }, { fileNames: Object.keys(same) }),
    ).not.to.throw();
  });

  it("shows no password", () => {
    const message = settingsError({ REDIS_SENTINEL_PASSWORD: "hunter2" });
    expect(message).to.include("?sentinel_password=").and.not.to.include("hunter2");
  });

  it("is told of settings only that there are none any more, and of places that there are", () => {
    for (const [name, { now }] of Object.entries(REMOVED)) {
      expect(settingNames).not.to.include(name);
      if (now !== undefined) expect(settingNames).to.include(now);
    }
  });
});

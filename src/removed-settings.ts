import { splitList } from "./lib/lists.ts";

/** A setting of an earlier release. */
interface Removed {
  /** The setting that has its place; undefined for one whose value is fixed now. */
  now?: string;
  /** Returns what to write there for the old value; null if nothing is needed, because it says what holds anyway. */
  write: (value: string, environment: NodeJS.ProcessEnv) => string | null;
}

/** An entry of a list such as `CONCURRENCY=runs:64`. */
const entry = (now: string, name: string): Removed => ({ now, write: value => `${name}:${value}` });

/** A bound in `FREE_LIMITS`. */
const freeLimit = (name: string): Removed => ({ now: "FREE_LIMITS", write: value => `${name}=${value}` });

/** A value that can't be chosen any more; `why` says what holds now, unless the value was one of `same`. */
const fixed = (why: string, ...same: string[]): Removed => ({
  write: value => (same.includes(value) ? null : why),
});

const rules = (write: (word: string) => string): Removed => ({
  now: "OIDC_ALLOW",
  write: value => splitList(value).map(write).join(","),
});

/** Every setting that a release since 0.1.0 has read and that this one does not. */
export const REMOVED: Record<string, Removed> = {
  REDIS_MODE: fixed("REDIS_URL and its servers say it"),
  REDIS_TLS_CA_FILE: { now: "REDIS_TLS", write: value => value },
  REDIS_TLS_VERIFY: { now: "REDIS_TLS", write: value => (value === "true" ? null : "unverified") },
  REDIS_SENTINEL_USERNAME: fixed("write it at the end of REDIS_URL: ?sentinel_username=…"),
  REDIS_SENTINEL_PASSWORD: fixed("write it at the end of REDIS_URL, percent-encoded: ?sentinel_password=…"),
  ACCEPT_REPLICAS: {
    now: "DURABLE_INGRESS",
    write: value => (value === "0" ? null : `replicas:${value}`),
  },
  OIDC_NAME: fixed("the button has the provider's host"),
  OIDC_ALLOWED_DOMAINS: rules(domain => (domain === "*" ? domain : `@${domain}`)),
  OIDC_ALLOWED_EMAILS: rules(email => email),
  OIDC_ORGANIZATIONS: rules(rule => rule),
  OIDC_CREATE_ACCOUNTS: {
    now: "OIDC_ACCOUNTS",
    write: (value, { OIDC_LINK_ACCOUNTS }) =>
      value === "true" || OIDC_LINK_ACCOUNTS === "true" ? null : "none",
  },
  OIDC_LINK_ACCOUNTS: {
    now: "OIDC_ACCOUNTS",
    write: (value, { OIDC_CREATE_ACCOUNTS }) =>
      value === "false" ? null : OIDC_CREATE_ACCOUNTS === "false" ? "link" : "create,link",
  },
  EGRESS_BLOCKED_PORTS: { now: "EGRESS_BLOCK", write: value => value },
  DELIVERY_TIMEOUT: entry("TIMEOUTS", "attempt"),
  DELIVERY_DISABLE_AFTER: entry("TIMEOUTS", "disable"),
  ALERT_FAILING_AFTER: entry("TIMEOUTS", "alert"),
  RUN_TIMEOUT: entry("TIMEOUTS", "run"),
  HOOK_TIMEOUT: entry("TIMEOUTS", "hook"),
  HTTP_RESPONSE_TIMEOUT: entry("TIMEOUTS", "response"),
  STALLED_AFTER: entry("TIMEOUTS", "stalled"),
  MAIL_FROM: fixed("write it at the end of SMTP_URL: ?from=…"),
  DELIVERY_PER_WEBHOOK: entry("CONCURRENCY", "webhook"),
  RUNS_CONCURRENCY: entry("CONCURRENCY", "runs"),
  EMISSIONS_CONCURRENCY: entry("CONCURRENCY", "emissions"),
  DELIVERIES_CONCURRENCY: entry("CONCURRENCY", "deliveries"),
  DELETIONS_CONCURRENCY: entry("CONCURRENCY", "deletions"),
  SANDBOX_PROCESSES: entry("CONCURRENCY", "sandboxes"),
  RUN_HEAP_MB: entry("SIZES_MB", "heap"),
  SANDBOX_MEMORY_MB: entry("SIZES_MB", "warm"),
  PACKAGES_MB: entry("SIZES_MB", "packages"),
  SANDBOX_SHARED_SOURCES: fixed("up to 32 timer sources share a sandbox", "32"),
  SANDBOX_IDLE: fixed("an idle sandbox is kept for 5 minutes", "5m", "300s"),
  FREE_DAILY_INVOCATIONS: freeLimit("daily_invocations"),
  FREE_DAILY_COMPUTE_MS: freeLimit("daily_compute_ms"),
  REDIS_HIGH_WATER_PERCENT: fixed("it is 80", "80"),
  RATE_LIMIT_PER_SECOND: entry("RATE_LIMITS", "api"),
  RATE_LIMIT_BURST: fixed("it is twice the rate of RATE_LIMITS", "200"),
  INGRESS_PER_SECOND: entry("RATE_LIMITS", "endpoint"),
  API_BODY_KB: fixed("it is 1024", "1024"),
  OTEL_EXPORTER_OTLP_PROTOCOL: fixed("it is http/protobuf", "http/protobuf"),
  OTEL_BSP_SCHEDULE_DELAY: fixed("spans wait for a second", "1000"),
  OTEL_TRACES_SAMPLER: fixed(
    "it is parentbased_traceidratio, whose share is OTEL_TRACES_SAMPLER_ARG: 1 for all traces that begin here, 0 for none",
    "parentbased_traceidratio",
    "parentbased_always_on",
  ),
};

/**
 * Returns a message for each setting of an earlier release that is given, or for those that one setting has taken over: what to
 * write in their place. A start that ignored them would do something else than before.
 */
export function removedSettings(environment: NodeJS.ProcessEnv): string[] {
  const given = Object.entries(REMOVED).flatMap(([name, { now, write }]) => {
    const value = environment[name]?.trim();
    const text = value === undefined || value === "" ? null : write(value, environment);
    return text === null ? [] : [{ name, now, text }];
  });
  const messages = given
    .filter(({ now }) => now === undefined)
    .map(({ name, text }) => `${name} is not a setting any more: ${text}`);
  for (const place of new Set(given.flatMap(({ now }) => now ?? []))) {
    const all = given.filter(({ now }) => now === place);
    const names = all.map(({ name }) => name).join(" and ");
    const texts = new Set([...splitList(environment[place] ?? ""), ...all.map(({ text }) => text)]);
    const gone = all.length === 1 ? "is not a setting" : "are not settings";
    messages.push(`${names} ${gone} any more: write ${place}=${[...texts].join(",")}`);
  }
  return messages;
}

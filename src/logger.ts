import { type Logger, pino } from "pino";

export type { Logger };

/** Names of fields that may hold a secret; their values never reach a line. */
const SECRET_FIELDS = [
  "authorization",
  "api_key",
  "apiKey",
  "signing_key",
  "password",
  "secret",
  "$auth",
  "cookie",
];

/** A logger of JSON lines on stdout; `process` is the queue's name, or `web`, or `cli`. */
export function createLogger(process: string, level: string): Logger {
  return pino({
    level,
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: label => ({ level: label }) },
    redact: {
      paths: SECRET_FIELDS.flatMap(name => [`["${name}"]`, `*["${name}"]`, `headers["${name}"]`]),
      censor: "[secret]",
    },
  });
}

import { type Logger, type LoggerOptions, pino } from "pino";
import { LogOutput } from "./log-output.ts";

export type { Logger };

/** Names of fields that may hold a secret; their values are never logged. */
const SECRET_FIELD =
  /^((proxy-)?authorization|(x[-_])?api[-_]?key|signing_?key|password|secret|\$auth|(set-)?cookie)$/i;

/** Values nested deeper are left out, which also ends circular references. */
const MAX_DEPTH = 8;

/** Only what an error says: database drivers attach whole commands and documents to theirs. */
function errorFacts(error: Error): Record<string, unknown> {
  const { type, message, stack } = pino.stdSerializers.err(error);
  const { code } = error as { code?: unknown };
  return { type, message, stack, ...(["string", "number"].includes(typeof code) && { code }) };
}

function withoutSecrets(value: unknown, depth = 0): unknown {
  if (value instanceof Error) return errorFacts(value);
  if (typeof value !== "object" || value === null || "toJSON" in value) return value;
  if (depth > MAX_DEPTH) return "[deep]";
  if (Array.isArray(value)) return value.map(entry => withoutSecrets(entry, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [
      name,
      SECRET_FIELD.test(name) ? "[secret]" : withoutSecrets(entry, depth + 1),
    ]),
  );
}

const WARN = 40;

let stdout: LogOutput | undefined;

/**
 * Creates a logger of JSON lines on stdout; `process` is the queue's name, `web` or `cli`. Warnings and errors are written
 * at once, other lines within 100 ms: a killed process loses up to that much of them. A log that can't be written loses
 * lines and never stops the process (`log-output.ts`).
 */
export function createLogger(process: string, level: string): Logger {
  stdout ??= new LogOutput(1);
  const output = stdout;
  const options: LoggerOptions = {
    hooks: {
      logMethod(args, log, rank) {
        log.apply(this, args);
        if (rank >= WARN) output.flush();
      },
    },
    level,
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    // `withoutSecrets` has already reduced every error to its facts.
    serializers: { err: facts => facts },
    formatters: {
      level: label => ({ level: label }),
      log: fields => withoutSecrets(fields) as Record<string, unknown>,
    },
  };
  const log = pino(options, output);
  output.onRecovered = lines => log.warn({ lines }, "lines of the log were dropped");
  return log;
}

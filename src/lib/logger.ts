import { type Logger, type LoggerOptions, pino } from "pino";

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

/** Lines are written together: a write for each costs as much as the work that most of them report. */
const FLUSH_MS = 100;
const FLUSH_BYTES = 4096;
const WARN = 40;

/**
 * Creates a logger of JSON lines on stdout; `process` is the queue's name, `web` or `cli`. Warnings and errors are written
 * at once, other lines within 100 ms: a killed process loses up to that much of them.
 */
export function createLogger(process: string, level: string): Logger {
  const stdout = pino.destination({
    dest: 1,
    sync: false,
    minLength: FLUSH_BYTES,
  });
  // Not pino's `periodicFlush`, which writes ten times a second even if nothing was logged.
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    timer = undefined;
    // The type lacks `destroyed`; a destroyed one throws.
    if (!(stdout as unknown as { destroyed: boolean }).destroyed) stdout.flush();
  };
  const options: LoggerOptions = {
    hooks: {
      logMethod(args, log, rank) {
        log.apply(this, args);
        if (rank >= WARN) stdout.flushSync();
        else if (!timer) timer = setTimeout(flush, FLUSH_MS).unref();
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
  return pino(options, stdout);
}

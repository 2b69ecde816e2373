import type { CallError } from "../protocol.ts";
import { authorText, maskSecrets } from "./author-text.ts";
import { fieldsOf, type ReadBodies, responseOf, shownJson } from "./vendor-response.ts";
import { MAX_ERROR_MESSAGE, MAX_STACK } from "./wire.ts";

const MAX_CODE = 100;
const MAX_CAUSES = 3;
/** Of an AggregateError's errors, so many are named. */
const MAX_ERRORS = 5;
const MAX_OWN_CHARS = 4096;
/** Of the response's body, in bytes. */
const MAX_BODY = 1024;

/** What a thrown value has of a request. */
const OF_REQUEST = ["config", "request", "headers", "options"];

export interface ErrorContext {
  /** What may not be in the text (`mask-secrets.ts`). */
  secrets?: readonly string[];
  /** What `readBodies` has read. */
  bodies?: ReadBodies;
}

/**
 * Converts a thrown value of any type to the error that is sent to the host, with all that its author can act on: what caused it, and
 * status and beginning of the response that it is about (docs/component-api.md#errors-logs-and-limits). Never throws.
 */
export function describeError(thrown: unknown, context: ErrorContext = {}): CallError {
  try {
    const written = new Writer(context);
    return {
      code: cut(written.codeOf(thrown), MAX_CODE),
      message: cut(written.messageOf(thrown), MAX_ERROR_MESSAGE),
      stack: cut(written.stackOf(thrown), MAX_STACK),
    };
  } catch {
    const message = "a value was thrown that can't be read";
    return { code: "Error", message, stack: `Error: ${message}` };
  }
}

class Writer {
  readonly #bodies: ReadBodies;
  readonly #secrets: readonly string[];

  constructor({ bodies = new Map(), secrets = [] }: ErrorContext) {
    this.#bodies = bodies;
    this.#secrets = secrets;
  }

  codeOf(thrown: unknown): string {
    const { name } = fieldsOf(thrown) ?? {};
    return typeof thrown === "object" && typeof name === "string" && name ? this.#clean(name) : "Error";
  }

  /** What it says itself, and all that caused it. */
  messageOf(thrown: unknown, depth = 0): string {
    const own = this.#own(thrown);
    if (depth >= MAX_CAUSES) return own;
    const all = errorsOf(thrown);
    const parts = all
      .slice(0, MAX_ERRORS)
      .map((one, i) => `${i + 1} of ${all.length}: ${this.messageOf(one, depth + 1)}`);
    const cause = causeOf(thrown);
    const caused = cause === undefined ? "" : this.messageOf(cause, depth + 1);
    if (caused && !own.includes(caused)) parts.push(`caused by ${caused}`);
    return parts.length > 0 ? `${own} (${parts.join("; ")})` : own;
  }

  stackOf(thrown: unknown, depth = 0): string {
    const { stack } = fieldsOf(thrown) ?? {};
    const frames =
      typeof stack === "string" ? /\n\s+at [\s\S]*$/.exec(stack.slice(0, 4 * MAX_STACK))?.[0] : undefined;
    const parts = [`${this.codeOf(thrown)}: ${this.#own(thrown)}${this.#clean(frames ?? "")}`];
    if (depth < MAX_CAUSES) {
      const all = errorsOf(thrown);
      for (const [i, one] of all.slice(0, MAX_ERRORS).entries())
        parts.push(`${i + 1} of ${all.length}: ${this.stackOf(one, depth + 1)}`);
      const cause = causeOf(thrown);
      if (cause !== undefined) parts.push(`Caused by: ${this.stackOf(cause, depth + 1)}`);
    }
    return parts.join("\n");
  }

  /** Its own message, with what the response says that it is about. */
  #own(thrown: unknown): string {
    const message = cut(this.#clean(saidBy(thrown)), MAX_OWN_CHARS);
    const { status, body = "" } = isAboutResponse(thrown) ? responseOf(thrown, this.#bodies) : {};
    const shown = cut(this.#clean(body).replace(/\s+/g, " ").trim(), MAX_BODY);
    const isNew = shown !== "" && !message.includes(shown);
    const head = status === undefined || message.includes(String(status)) ? "" : `HTTP ${status}`;
    if (!isNew) return head ? `${message} (${head})` : message;
    return `${message} (${head || "response"}: ${shown})`;
  }

  #clean(text: string): string {
    return maskSecrets(authorText(text.slice(0, 2 * MAX_STACK)), this.#secrets);
  }
}

/** Interceptors throw the response itself. Of any other value without a message, all is said already. */
function isAboutResponse(thrown: unknown): boolean {
  const error = fieldsOf(thrown);
  return error !== undefined && (Boolean(error.message) || thrown instanceof Error || isResponse(error));
}

const isResponse = ({ status, statusText }: Record<string, unknown>): boolean =>
  typeof status === "number" && typeof statusText === "string";

function saidBy(thrown: unknown): string {
  if (typeof thrown === "string") return thrown || "an empty text was thrown";
  if (typeof thrown === "function") return "a function was thrown";
  const error = fieldsOf(thrown);
  if (!error) return `${String(thrown)} was thrown`;
  const { message, code } = error;
  if (typeof message === "string" && message) return message;
  if (message) return shownJson(message, MAX_OWN_CHARS) ?? String(message);
  if (thrown instanceof Error) return typeof code === "string" && code ? code : "an error without a message";
  if (isResponse(error)) return `HTTP ${error.status} ${error.statusText}`.trim();
  const json = shownJson(thrown, MAX_OWN_CHARS, OF_REQUEST);
  return json ?? `a ${nameOfClass(thrown)} was thrown`;
}

const nameOfClass = (value: unknown): string => {
  const { name } = fieldsOf(fieldsOf(value)?.constructor) ?? {};
  return typeof name === "string" && name ? name : "value";
};

/** Of the errors that an AggregateError, or one like it, is made of. */
function errorsOf(thrown: unknown): unknown[] {
  const { errors } = fieldsOf(thrown) ?? {};
  return Array.isArray(errors) ? errors.filter(one => one instanceof Error) : [];
}

/** GraphQL clients and database libraries had causes before the language did. */
function causeOf(thrown: unknown): unknown {
  const { cause, originalError, networkError } = fieldsOf(thrown) ?? {};
  return cause ?? originalError ?? networkError ?? undefined;
}

/** Cuts a text to so many bytes, and says so. */
function cut(text: string, bytes: number): string {
  const all = Buffer.from(text);
  if (all.length <= bytes) return text;
  return `${all
    .subarray(0, bytes - 3)
    .toString("utf8")
    .replace(/\uFFFD+$/, "")}…`;
}

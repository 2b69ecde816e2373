import { AppError, type ErrorCode, type FieldError } from "../../lib/errors.ts";
import type { BundleOptions } from "../bundle.ts";
import type { CodeTraits } from "../code-traits.ts";
import type { ModuleLoader } from "../load-modules.ts";

/** An error as a message. What caused it is only its text, for the log. */
interface SentError {
  message: string;
  stack: string | undefined;
  cause: string | undefined;
  app?: { code: ErrorCode; fields: FieldError[]; retryAfterMs: number | undefined };
}

/** What one of two processes sends to the other. */
export type CallMessage =
  | { kind: "call"; id: number; name: string; given: unknown[] }
  | { kind: "returned"; id: number; value: unknown }
  | { kind: "threw"; id: number; error: SentError };

/** The functions that the other process may call. */
export type Callable = Record<string, (...given: never[]) => Promise<unknown>>;

interface Pending {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

/**
 * Calls of functions between two processes, in both directions, over messages: parameters and results are copied, and an
 * AppError arrives as one.
 */
export class ProcessCalls {
  readonly #send: (message: CallMessage) => void;
  readonly #callable: Callable;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  constructor(send: (message: CallMessage) => void, callable: Callable) {
    this.#send = send;
    this.#callable = callable;
  }

  /** Calls a function of the other process. Throws what it throws, or what `fail` is given. */
  call<T>(name: string, ...given: unknown[]): Promise<T> {
    const id = ++this.#lastId;
    return new Promise<T>((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as Pending["resolve"], reject });
      this.#send({ kind: "call", id, name, given });
    });
  }

  /** Handles a message of the other process. */
  receive(message: CallMessage): void {
    if (message.kind === "call") {
      void this.#perform(message);
      return;
    }
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (message.kind === "returned") pending?.resolve(message.value);
    else pending?.reject(receivedError(message.error));
  }

  /** Ends all calls that wait for the other process. */
  fail(error: Error): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(error);
  }

  async #perform({ id, name, given }: CallMessage & { kind: "call" }): Promise<void> {
    try {
      const call = this.#callable[name];
      if (call === undefined) throw new Error(`there is no ${name} to call`);
      this.#send({ kind: "returned", id, value: await call(...(given as never[])) });
    } catch (error) {
      this.#send({ kind: "threw", id, error: sentError(error) });
    }
  }
}

function sentError(error: unknown): SentError {
  if (!(error instanceof Error)) return { message: String(error), stack: undefined, cause: undefined };
  const { message, stack, cause } = error;
  const sent = { message, stack, cause: cause === undefined ? undefined : String(cause) };
  if (!(error instanceof AppError)) return sent;
  const { code, fields, retryAfterMs } = error;
  return { ...sent, app: { code, fields, retryAfterMs } };
}

function receivedError({ message, stack, cause, app }: SentError): Error {
  const error = app
    ? new AppError(app.code, message, {
        fields: app.fields,
        cause,
        ...(app.retryAfterMs !== undefined && { retryAfterMs: app.retryAfterMs }),
      })
    : new Error(message, { cause });
  if (stack !== undefined) error.stack = stack;
  return error;
}

/** What the build process is asked to build. Its loader's files are read by the process that asks. */
export interface BuildOrder {
  /** Where the results are written: `component.mjs`, and the same with gzip, `component.mjs.gz`. */
  folder: string;
  /** The loader's field, and whether the code has a place of its own. */
  loader: { field: ModuleLoader["field"]; declaresRanges: boolean };
  options: Omit<BundleOptions, "mayInstall">;
}

/** A part of a bundle that other bundles may have, too. */
export interface PackedPart {
  /** SHA-256 (hex) of its text. */
  hash: string;
  /** Its length in the file with gzip. */
  bytes: number;
}

/** What was built, besides the files. */
export interface BuildResult {
  /** As `ComponentBundle`. */
  hash: string;
  modules: string[];
  packages: Record<string, string>;
  /** SHA-256 (hex) of the bundle, and its length. */
  bundleHash: string;
  bundleBytes: number;
  /** In order. */
  parts: PackedPart[];
  traits: CodeTraits;
}

export const BUNDLE_FILE = "component.mjs";
export const PACKED_FILE = "component.mjs.gz";

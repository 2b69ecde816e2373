import { AppError } from "../../lib/errors.ts";
import { propValuesForRun } from "../../props/configure.ts";
import { boundProp } from "../../props/dynamic-props.ts";
import {
  callCreateHooks,
  callHook,
  callUpdateHooks,
  newHookEffects,
  type SourceVersion,
} from "../../runs/hooks.ts";
import { type CallEffects, effectsOf, emptyMemory } from "../../runs/memory.ts";
import type { CallError, CallResult, ComponentCall, HttpResponse } from "../../sandbox/protocol.ts";
import type { Sandboxes } from "../../sandbox/sandboxes.ts";
import { slashed } from "../../sources/source.ts";
import type { ComponentInput, LoadedCode } from "./load.ts";
import type { LocalServices } from "./local-services.ts";
import type { Printer } from "./print.ts";

export interface SessionOptions {
  sandboxes: Pick<Sandboxes, "call" | "drop">;
  printer: Printer;
  /** Milliseconds that one hook may take. */
  hookMs: number;
  /** Returns the current URL of the component's HTTP interface; null if it has none. */
  endpointUrl: () => string | null;
}

export interface RunOptions {
  /** Called when the runs before it have ended. */
  onStart?: () => void;
  onRespond?: (response: HttpResponse) => void;
}

const CANCELLED: CallError = { code: "Cancelled", message: "the source is being stopped", stack: "" };

/**
 * One source that lives in this process: its code, its memory, and its runs and hooks, which are executed one after the
 * other as those of a deployed source are (docs/design.md#guarantee-4).
 */
export class Session {
  readonly #options: SessionOptions;
  #code: LoadedCode | undefined;
  #memory = emptyMemory();
  /** True from the call of activate on; then deactivate must be called at the end. */
  #isActive = false;
  #isStopping = false;
  /** Resolves when the last call so far has ended. */
  #lastCall: Promise<unknown> = Promise.resolve();
  /** Cancels the current call. One for each call: listeners on one that lives as long as the session would pile up. */
  #cancelling = new AbortController();

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Deploys the source: deploy, then activate. Throws AppError with the error of the hook that failed. */
  start(code: LoadedCode): Promise<void> {
    return this.#afterEarlierCalls(async () => {
      this.#code = code;
      const effects = newHookEffects(this.#memory);
      const failed = await callCreateHooks(this.#versionOf(code), effects);
      if (failed) {
        // An activate that was cancelled may have set something up, which deactivate must remove.
        this.#isActive &&= failed.error.code === CANCELLED.code;
        throw new AppError("invalid", `the ${failed.hook} hook failed: ${failed.error.message}`);
      }
      this.#isActive = true;
      this.#commit(effects);
    });
  }

  /**
   * Replaces the code between two runs. Returns the error of the new code's activate hook; the old code then stays.
   */
  replace(next: LoadedCode): Promise<CallError | null> {
    return this.#afterEarlierCalls(async () => {
      const old = this.#code;
      if (!old) return null;
      const result = await callUpdateHooks(this.#versionOf(old), this.#versionOf(next), this.#memory);
      if (result.error) {
        const lost = result.discarded.emits.length;
        if (lost > 0) this.#options.printer.say("dropped", `${eventCount(lost)} of the hooks`);
        this.#commit(result.restored);
        return result.error;
      }
      this.#code = next;
      this.#commit(result.effects);
      if (processKey(old) !== processKey(next)) this.#options.sandboxes.drop(processKey(old));
      return null;
    });
  }

  /** Runs the source once earlier runs have ended. Returns the error with which the run failed, or null. */
  async run(event: unknown, options: RunOptions = {}): Promise<CallError | null> {
    try {
      return await this.#afterEarlierCalls(() => this.#runNow(event, options));
    } catch (failure) {
      // The sandbox itself failed, for example because the disk is full: the next run may succeed.
      const { name, message } = failure as Error;
      const error: CallError = { code: name, message, stack: "" };
      this.#options.printer.error(error);
      return error;
    }
  }

  /** Cancels the current call and calls deactivate. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#cancelling.abort();
    await this.#afterEarlierCalls(async () => {
      if (!this.#code || !this.#isActive) return;
      this.#isActive = false;
      const effects = newHookEffects(this.#memory);
      await callHook(this.#versionOf(this.#code), "deactivate", effects);
      this.#commit(effects);
    });
  }

  #afterEarlierCalls<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#lastCall.then(work);
    this.#lastCall = result.catch(() => undefined);
    return result;
  }

  async #runNow(event: unknown, { onStart, onRespond }: RunOptions): Promise<CallError | null> {
    onStart?.();
    if (!this.#code || this.#isStopping) return CANCELLED;
    const result = await this.#call(this.#code, "run", this.#memory.db, event, onRespond);
    const effects = effectsOf(this.#code.description, this.#memory, result);
    this.#commit(effects);
    const { emits, deduped, notice } = effects;
    const ms = Math.round(result.durationMs);
    if (notice) this.#options.printer.say("warn", notice);
    this.#options.printer.say("ran", `${ms} ms, ${emits.length} emitted, ${deduped} dropped`);
    return result.error ?? null;
  }

  #versionOf(code: LoadedCode): SourceVersion {
    return {
      description: code.description,
      execute: (hook, db) => {
        this.#options.printer.say("hook", hook);
        if (hook === "activate") this.#isActive = true;
        return this.#call(code, hook, db, null);
      },
    };
  }

  async #call(
    code: LoadedCode,
    call: ComponentCall,
    db: Record<string, unknown>,
    event: unknown,
    onRespond?: RunOptions["onRespond"],
  ): Promise<CallResult> {
    const { sandboxes, printer, hookMs, endpointUrl } = this.#options;
    const props = propValuesForRun(
      code.props,
      code.values,
      slashed(endpointUrl(), code.description.addsSlash),
    );
    this.#cancelling = new AbortController();
    if (this.#isStopping && call !== "deactivate") this.#cancelling.abort();
    const result = await sandboxes.call(
      processKey(code),
      code.bundle,
      { call, event, props, added: code.added.map(boundProp), db },
      {
        signal: this.#cancelling.signal,
        ...(call !== "run" && { wallMs: hookMs }),
        ...(onRespond && { onRespond }),
      },
    );
    for (const line of result.logs) printer.log(line);
    if (result.error) printer.error(result.error);
    return result;
  }

  #commit({ memory, emits, deduped }: CallEffects): void {
    const { printer } = this.#options;
    this.#memory = memory;
    for (const emit of emits) printer.emit(emit);
    if (deduped > 0) printer.say("dropped", `${eventCount(deduped)} by dedupe: emitted before`);
  }
}

const processKey = ({ bundle }: LoadedCode): string => `dev:${bundle.hash}`;
const eventCount = (events: number): string => (events === 1 ? "1 event" : `${events} events`);

export interface DevOptions extends ComponentInput {
  /** Port of the HTTP interface; 0 for any free one. */
  port: number;
  /** Run once and end. */
  once: boolean;
  /** JSON file with the event for Enter and for `once`, instead of the timer's event. */
  event?: string | undefined;
  /** CIDRs that the component may reach besides public addresses. */
  allow: readonly string[];
}

/** The source that `headwater dev` runs: what its triggers and the reload share. */
export interface DevSource {
  /** Replaced by each reload. */
  code: LoadedCode;
  session: Session;
  printer: Printer;
  options: DevOptions;
  services: LocalServices;
  /** Opens the HTTP port unless it is open. Throws AppError `unavailable` if the port is taken. */
  openPort(): Promise<void>;
}

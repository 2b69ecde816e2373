import { AppError } from "../../lib/errors.ts";
import { propValuesForRun } from "../../props/configure.ts";
import { type DedupeMemory, dedupe, inOrder } from "../../runs/dedupe.ts";
import type { Sandboxes } from "../../sandbox/host.ts";
import type { CallError, ComponentCall, Emit, HttpResponse } from "../../sandbox/protocol.ts";
import type { LoadedCode } from "./load.ts";
import type { Printer } from "./print.ts";

export interface SessionOptions {
  sandboxes: Pick<Sandboxes, "call" | "drop">;
  printer: Printer;
  /** Of one hook. */
  hookMs: number;
  /** Where the component's HTTP interface answers now; null without one. */
  endpointUrl: () => string | null;
}

interface Memory {
  db: Record<string, unknown>;
  dedupe: DedupeMemory;
}

/** What hooks did so far: theirs only once all of them went well, as in a deployment. */
interface Trail {
  memory: Memory;
  kept: Emit[];
  dropped: number;
}

export interface RunOptions {
  /** Its turn has come. */
  onStart?: () => void;
  onRespond?: (response: HttpResponse) => void;
}

/** One source that lives in this process: its code, its memory, and its runs one after the other. */
export interface Session {
  /** Deploys it: deploy, then activate. Throws AppError with the error of the hook that refused. */
  start(code: LoadedCode): Promise<void>;
  /** Old code off, new code on, between two runs. Answers the new code's refusal; the old one goes on then. */
  replace(next: LoadedCode): Promise<CallError | null>;
  /** Runs it once those before are done; answers the error it ended with. */
  run(event: unknown, options?: RunOptions): Promise<CallError | null>;
  /** Cancels what is under way and calls deactivate. */
  stop(): Promise<void>;
}

export function openSession({ sandboxes, printer, hookMs, endpointUrl }: SessionOptions): Session {
  let current: LoadedCode | undefined;
  let memory: Memory = { db: {}, dedupe: {} };
  let isActive = false;
  let line: Promise<unknown> = Promise.resolve();
  let isStopping = false;
  // One for each call: listeners on one that lives as long as the session would pile up.
  let calling = new AbortController();

  /** Runs, hooks and changes of a source are serial (design.md, guarantee 4). */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = line.then(work);
    line = turn.catch(() => undefined);
    return turn;
  };

  async function call(code: LoadedCode, trail: Trail, what: ComponentCall, extra: CallExtra = {}) {
    const { props, dedupe: strategy } = code.description;
    const request = {
      call: what,
      event: extra.event ?? null,
      props: propValuesForRun(props, code.values, { endpointUrl: endpointUrl() }),
      db: trail.memory.db,
    };
    calling = new AbortController();
    if (isStopping && what !== "deactivate") calling.abort();
    const result = await sandboxes.call(keyOf(code), code.bundle, request, {
      signal: calling.signal,
      ...(what !== "run" && { wallMs: hookMs }),
      ...(extra.onRespond && { onRespond: extra.onRespond }),
    });
    const deduped = dedupe(strategy, trail.memory.dedupe, inOrder(result.emits));
    trail.memory = { db: result.db ?? trail.memory.db, dedupe: deduped.memory };
    trail.kept.push(...deduped.kept);
    trail.dropped += deduped.dropped;
    for (const logged of result.logs) printer.log(logged);
    if (result.error) printer.error(result.error);
    return result;
  }

  const newHookEffects = (): Trail => ({ memory, kept: [], dropped: 0 });

  async function hook(
    code: LoadedCode,
    trail: Trail,
    what: "deploy" | "activate" | "deactivate",
  ): Promise<CallError | null> {
    if (!code.description.hooks.includes(what)) return null;
    printer.say("hook", what);
    return (await call(code, trail, what)).error ?? null;
  }

  function commit(trail: Trail): void {
    memory = trail.memory;
    for (const emit of trail.kept) printer.emit(emit);
    if (trail.dropped > 0) printer.say("dropped", `${countOf(trail.dropped)} by dedupe: emitted before`);
  }

  async function deploy(code: LoadedCode): Promise<void> {
    const trail = newHookEffects();
    current = code;
    for (const what of ["deploy", "activate"] as const) {
      isActive = what === "activate";
      const error = await hook(code, trail, what);
      if (!error) continue;
      // What a cancelled activate has set up already is for deactivate to take away.
      isActive &&= error.code === CANCELLED.code;
      throw new AppError("invalid", `the ${what} hook failed: ${error.message}`);
    }
    commit(trail);
  }

  async function change(old: LoadedCode, next: LoadedCode): Promise<CallError | null> {
    const trail = newHookEffects();
    await hook(old, trail, "deactivate");
    const error = await hook(next, trail, "activate");
    if (error) {
      if (trail.kept.length > 0) printer.say("dropped", `${countOf(trail.kept.length)} of the hooks`);
      const back = newHookEffects();
      await hook(old, back, "activate");
      commit(back);
      return error;
    }
    current = next;
    commit(trail);
    if (keyOf(old) !== keyOf(next)) sandboxes.drop(keyOf(old));
    return null;
  }

  async function runOnce(event: unknown, { onStart, onRespond }: RunOptions): Promise<CallError | null> {
    onStart?.();
    if (!current || isStopping) return CANCELLED;
    const trail = newHookEffects();
    const result = await call(current, trail, "run", { event, onRespond });
    commit(trail);
    const ms = Math.round(result.durationMs);
    printer.say("ran", `${ms} ms, ${trail.kept.length} emitted, ${trail.dropped} dropped`);
    return result.error ?? null;
  }

  return {
    start: code => inTurn(() => deploy(code)),
    replace: next => inTurn(async () => (current ? change(current, next) : null)),
    run: (event, options = {}) =>
      inTurn(() => runOnce(event, options)).catch(({ name, message }: Error) => {
        // The host's own failure, such as a full disk: the next run may go well.
        const error: CallError = { code: name, message, stack: "" };
        printer.error(error);
        return error;
      }),
    async stop() {
      isStopping = true;
      calling.abort();
      await inTurn(async () => {
        if (!current || !isActive) return;
        isActive = false;
        const trail = newHookEffects();
        await hook(current, trail, "deactivate");
        commit(trail);
      });
    },
  };
}

interface CallExtra {
  event?: unknown;
  onRespond?: RunOptions["onRespond"] | undefined;
}

const CANCELLED: CallError = { code: "Cancelled", message: "the source is being stopped", stack: "" };

const keyOf = ({ bundle }: LoadedCode): string => `dev:${bundle.hash}`;
const countOf = (events: number): string => (events === 1 ? "1 event" : `${events} events`);

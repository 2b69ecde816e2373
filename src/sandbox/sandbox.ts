import { type ChildLimits, type ChildMessage, LOG_LINE_BYTES } from "./child/wire.ts";
import type { CallError, CallRequest, CallResult, HttpResponse } from "./protocol.ts";
import { type Child, ended } from "./spawn.ts";

export interface CallControl {
  wallMs: number;
  onRespond?: ((response: HttpResponse) => void) | undefined;
}

export type Loaded = { state: "loaded" } | { state: "failed"; error: CallError };
export type Described =
  | { state: "described"; description: unknown }
  | { state: "refused"; path: string; message: string };

/** A component in its own process. Calls are serial: the pool lends it to one at a time. */
export interface Sandbox {
  pid: number;
  /** Its private folder. */
  directory: string;
  gone: Promise<CallError>;
  loaded: Promise<Loaded>;
  describe(): Promise<Described>;
  /** Nothing when the process ended before it took the call: the call may go to another one. */
  call(request: CallRequest, control: CallControl): Promise<CallResult | undefined>;
  kill(reason: CallError): void;
}

/** The same value can take a few bytes more when it is written again. */
const DB_SLACK = 1.1;
/** Ends that concern the call itself, started or not. */
const BY_US = new Set(["Timeout", "Cancelled"]);

export function openSandbox(child: Child, limits: ChildLimits): Sandbox {
  let calls = 0;
  const goneAs = <T>(make: (error: CallError) => T) => child.gone.then(make);
  const loaded = Promise.race([
    goneAs((error): Loaded => ({ state: "failed", error })),
    new Promise<Loaded>(done => {
      child.onMessage = message => {
        if (message.kind === "loaded") done({ state: "loaded" });
        else if (message.kind === "failed") done({ state: "failed", error: message.error });
        else if (message.kind === "refused") {
          done({ state: "failed", error: ended("Error", `${message.path}: ${message.message}`) });
        }
      };
    }),
  ]);

  function describe(): Promise<Described> {
    const described = new Promise<Described>(done => {
      child.onMessage = message => {
        if (message.kind === "described") done({ state: "described", description: message.description });
        else if (message.kind === "refused") {
          done({ state: "refused", path: message.path, message: message.message });
        } else if (message.kind === "failed") {
          done({ state: "refused", path: "code", message: message.error.message });
        }
      };
    });
    child.send({ kind: "describe" });
    return Promise.race([
      described,
      goneAs((error): Described => ({ state: "refused", path: "code", message: error.message })),
    ]);
  }

  async function call(request: CallRequest, control: CallControl): Promise<CallResult | undefined> {
    const number = ++calls;
    const began = performance.now();
    const record = createRecord(limits, control.onRespond);
    const misbehave = (reason: string) =>
      child.kill(ended("Error", `The component broke its sandbox: ${reason}`));
    const finished = new Promise<ChildMessage & { kind: "ended" }>(done => {
      child.onMessage = (message, bytes) => {
        if (!("call" in message) || message.call !== number) return;
        if (message.kind !== "ended") record.take(message, bytes, misbehave);
        else if (isTooLarge(message.db, limits.maxDbBytes)) misbehave("its db is too large");
        else done(message);
      };
    });
    const wall = ended("Timeout", `The component ran longer than ${control.wallMs} ms`);
    const timer = setTimeout(() => child.kill(wall), control.wallMs);
    child.send({ kind: "call", call: number, request });
    try {
      const end = await Promise.race([finished, goneAs(error => ({ kind: "gone" as const, error }))]);
      if (end.kind === "gone" && !record.hasStarted() && !BY_US.has(end.error.code)) return undefined;
      return {
        ...(end.error ? { error: end.error } : {}),
        ...record.collected(),
        ...(end.kind === "ended" && end.db ? { db: end.db } : {}),
        durationMs: performance.now() - began,
      };
    } finally {
      clearTimeout(timer);
      child.onMessage = () => {};
    }
  }

  return {
    pid: child.pid,
    directory: child.directory,
    gone: child.gone,
    loaded,
    describe,
    call,
    kill: child.kill,
  };
}

function isTooLarge(db: Record<string, unknown> | undefined, maxBytes: number): boolean {
  return db !== undefined && Buffer.byteLength(JSON.stringify(db)) > maxBytes * DB_SLACK;
}

/** Collects what a call gives, and counts it again: the child is not believed. */
function createRecord(limits: ChildLimits, onRespond: CallControl["onRespond"]) {
  const emits: CallResult["emits"] = [];
  const logs: CallResult["logs"] = [];
  let emitBytes = 0;
  let logBytes = 0;
  let isStarted = false;
  let isCut = false;
  let hasResponded = false;

  function cutLogs(): void {
    if (isCut) return;
    isCut = true;
    const message = `Logs are cut here: a run may write ${Math.round(limits.maxLogBytes / 1024)} KB`;
    logs.push({ level: "warn", message, ts: Date.now() });
  }

  return {
    take(message: ChildMessage, bytes: number, misbehave: (reason: string) => void): void {
      switch (message.kind) {
        case "started":
          isStarted = true;
          break;
        case "emit":
          emitBytes += bytes;
          if (emits.length >= limits.maxEmits || emitBytes > limits.maxRunBytes) misbehave("too many events");
          else emits.push({ event: message.event, metadata: message.metadata });
          break;
        case "log": {
          const { level, message: text, ts } = message;
          logBytes += Buffer.byteLength(text) + LOG_LINE_BYTES;
          if (isCut || logBytes > limits.maxLogBytes + LOG_LINE_BYTES) cutLogs();
          else logs.push({ level, message: text, ts });
          break;
        }
        case "log-cut":
          cutLogs();
          break;
        case "respond": {
          const { status, headers, bodyBase64 } = message;
          if (hasResponded) break;
          hasResponded = true;
          onRespond?.({ status, headers, bodyBase64 });
          break;
        }
      }
    },
    hasStarted: () => isStarted,
    collected: () => ({ emits, logs }),
  };
}

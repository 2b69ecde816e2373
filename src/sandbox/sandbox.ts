import { createCallRecord } from "./call-record.ts";
import type { ChildLimits, ChildMessage } from "./child/wire.ts";
import type { CallError, CallRequest, CallResult, HttpResponse } from "./protocol.ts";
import { type Child, ended } from "./spawn.ts";
import type { Sample } from "./usage.ts";

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
  /** Calls it has taken so far, and the processor time of the process at the end of the last one. */
  served(): { calls: number; cpuMs: number };
  describe(): Promise<Described>;
  /** Nothing when the process ended before it took the call: the call may go to another one. */
  call(request: CallRequest, control: CallControl): Promise<CallResult | undefined>;
  /** What the process has used since its start, and the call under way, if there is one, since its own. */
  usage(): Sample & { callCpuMs: number | undefined };
  kill(reason: CallError): void;
}

/** The same value can take a few bytes more when it is written again. */
const DB_SLACK = 1.1;
/** Ends that concern the call itself, started or not. */
const BY_US = new Set(["Timeout", "Cancelled"]);
/** From this long on the other threads' share is worth looking up. */
const LONG_CALL_MS = 100;

type Ended = (ChildMessage & { kind: "ended" }) | { kind: "gone"; error: CallError };

export function openSandbox(child: Child, limits: ChildLimits): Sandbox {
  let calls = 0;
  let isGone: CallError | undefined;
  // One listener for all calls: one each would keep every call's events until the process is gone.
  let onGone: (error: CallError) => void = () => {};
  void child.gone.then(error => {
    isGone = error;
    onGone(error);
  });
  /** The figures at the start of the call under way, and the most memory seen in it. */
  let underWay: Sample | undefined;

  const loaded = new Promise<Loaded>(done => {
    onGone = error => done({ state: "failed", error });
    child.onMessage = message => {
      if (message.kind === "loaded") done({ state: "loaded" });
      else if (message.kind === "failed") done({ state: "failed", error: message.error });
      else if (message.kind === "refused") {
        done({ state: "failed", error: ended("Error", `${message.path}: ${message.message}`) });
      }
    };
  });

  function describe(): Promise<Described> {
    return new Promise<Described>(done => {
      const refuse = (message: string, path = "code") => done({ state: "refused", path, message });
      onGone = error => refuse(error.message);
      child.onMessage = message => {
        if (message.kind === "described") done({ state: "described", description: message.description });
        else if (message.kind === "refused") refuse(message.message, message.path);
        else if (message.kind === "failed") refuse(message.error.message);
      };
      if (isGone) onGone(isGone);
      else child.send({ kind: "describe" });
    });
  }

  /** `isExact` counts the threads beside the component's own; see `openUsage`. */
  function sample(isExact: boolean): Sample {
    const now = child.usage.sample(isExact);
    if (underWay) underWay.memoryBytes = Math.max(underWay.memoryBytes, now.memoryBytes);
    return now;
  }

  async function call(request: CallRequest, control: CallControl): Promise<CallResult | undefined> {
    const number = ++calls;
    const began = performance.now();
    const before = child.usage.sample(false);
    underWay = { ...before };
    const record = createCallRecord(limits, control.onRespond);
    const misbehave = (reason: string) =>
      child.kill(ended("Error", `The component broke its sandbox: ${reason}`));
    const wall = ended("Timeout", `The component ran longer than ${control.wallMs} ms`);
    const timer = setTimeout(() => child.kill(wall), control.wallMs);
    const end = await new Promise<Ended>(done => {
      onGone = error => done({ kind: "gone", error });
      child.onMessage = (message, bytes) => {
        if (!("call" in message) || message.call !== number) return;
        if (message.kind !== "ended") record.take(message, bytes, misbehave);
        else if (isTooLarge(message.db, limits.maxDbBytes)) misbehave("its db is too large");
        else done(message);
      };
      if (isGone) onGone(isGone);
      else child.send({ kind: "call", call: number, request });
    });
    clearTimeout(timer);
    onGone = () => {};
    child.onMessage = () => {};
    const durationMs = performance.now() - began;
    const after = sample(durationMs >= LONG_CALL_MS);
    const { memoryBytes } = underWay;
    underWay = undefined;
    if (end.kind === "gone" && !record.hasStarted() && !BY_US.has(end.error.code)) return undefined;
    return {
      ...(end.error ? { error: end.error } : {}),
      ...record.collected(),
      ...(end.kind === "ended" && end.db ? { db: end.db } : {}),
      durationMs,
      cpuMs: Math.max(0, after.cpuMs - before.cpuMs),
      memoryBytes,
    };
  }

  return {
    pid: child.pid,
    directory: child.directory,
    gone: child.gone,
    loaded,
    served: () => ({ calls, cpuMs: child.usage.last().cpuMs }),
    describe,
    call,
    usage() {
      const callStart = underWay?.cpuMs;
      const now = sample(true);
      return { ...now, callCpuMs: callStart === undefined ? undefined : now.cpuMs - callStart };
    },
    kill: child.kill,
  };
}

function isTooLarge(db: Record<string, unknown> | undefined, maxBytes: number): boolean {
  return db !== undefined && Buffer.byteLength(JSON.stringify(db)) > maxBytes * DB_SLACK;
}

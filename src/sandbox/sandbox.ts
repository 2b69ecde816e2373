import { type ChildLimits, callsMessage, type ParentMessage } from "./child/wire.ts";
import { type Meter, openMeter } from "./meter.ts";
import type { CallError, CallsRequest } from "./protocol.ts";
import { openSeries, type SeriesControl } from "./series.ts";
import { type Child, ended } from "./spawn.ts";
import type { Sample } from "./usage.ts";
import { createWindow } from "./window.ts";

export interface CallsControl extends SeriesControl {
  /** Of each call. */
  wallMs: number;
  /** No call begins later than this many milliseconds after the first. */
  forMs: number;
  /** So many calls at most. */
  most: number;
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
  /**
   * Calls with the first event, and with those after it as long as there is time. Answers how many calls have ended,
   * failed ones included; 0 when the process ended before it took the first: it may go to another one.
   */
  calls(request: CallsRequest, control: CallsControl): Promise<number>;
  /** What the process has used since its start, and the call under way, if there is one, since its own. */
  usage(): Sample & { callCpuMs: number | undefined };
  kill(reason: CallError): void;
}

/** For what a child says in time and is read late. */
const LATE_MS = 1000;

export function openSandbox(child: Child, limits: ChildLimits): Sandbox {
  let numbered = 0;
  let served = 0;
  let isGone: CallError | undefined;
  // One listener for all calls: one each would keep every call's events until the process is gone.
  let onGone: (error: CallError) => void = () => {};
  void child.gone.then(error => {
    isGone = error;
    onGone(error);
  });
  /** While calls are under way. */
  let meter: Meter | undefined;
  const window = createWindow();
  const misbehave = (reason: string) =>
    child.kill(ended("Error", `The component broke its sandbox: ${reason}`));

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
      else child.send(JSON.stringify({ kind: "describe" } satisfies ParentMessage));
    });
  }

  async function calls(request: CallsRequest, control: CallsControl): Promise<number> {
    const events = window.fit(request.events, control.most);
    const began = performance.now();
    meter = openMeter(child.usage);
    const wall = ended("Timeout", `The component ran longer than ${control.wallMs} ms`);
    const timer = setTimeout(() => child.kill(wall), control.wallMs);
    const first = numbered + 1;
    numbered += events.length;
    const series = openSeries({
      ...control,
      first,
      count: events.length,
      limits,
      meter,
      misbehave,
      onBegin() {
        // Later than this none begins, so the time of one that is said to is not its own.
        if (performance.now() - began < control.forMs + LATE_MS) timer.refresh();
      },
    });
    const error = await new Promise<CallError | undefined>(done => {
      onGone = done;
      child.onMessage = (message, bytes) => {
        if (!series.take(message, bytes)) return;
        // At once: more of what it says may be in the same chunk.
        child.onMessage = () => misbehave("it spoke though nothing was asked");
        done(undefined);
      };
      if (isGone) onGone(isGone);
      else child.send(callsMessage({ call: first, request, events, forMs: control.forMs }));
    });
    clearTimeout(timer);
    onGone = () => {};
    if (error) series.fail(error);
    meter = undefined;
    served += series.done();
    window.learn(events.length, series.done(), (performance.now() - began) / control.forMs);
    return series.done();
  }

  return {
    pid: child.pid,
    directory: child.directory,
    gone: child.gone,
    loaded,
    served: () => ({ calls: served, cpuMs: child.usage.last().cpuMs }),
    describe,
    calls,
    usage() {
      if (!meter) return { ...child.usage.sample(true), callCpuMs: undefined };
      const now = meter.look(true);
      return { ...now, callCpuMs: now.cpuMs - meter.cpuMsBefore() };
    },
    kill: child.kill,
  };
}

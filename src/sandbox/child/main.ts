/** The program that deno runs, with one component per process. The host bundles it (`prelude.ts`). */
import type { BatchRequest, CallRequest } from "../protocol.ts";
import { bindThis } from "./bind-this.ts";
import { type Call, openCall, resetLateEmits } from "./call.ts";
import { captureOutput } from "./capture-output.ts";
import { type Component, componentOf, InvalidComponentError, objectOf } from "./component.ts";
import { describeComponent } from "./describe.ts";
import { describeError, hideModulePath } from "./describe-error.ts";
import { lockDown } from "./lock-down.ts";
import { exitProcess, receive, send, sendJson, setSecret } from "./port.ts";
import { redirectTmp } from "./redirect-tmp.ts";
import { replaceFetch } from "./replace-fetch.ts";
import { rerouteSockets } from "./reroute-sockets.ts";
import { dbEntries, openDb, type ServiceDb } from "./service-db.ts";
import type { ChildLimits, ParentMessage } from "./wire.ts";

let component: Component | undefined;
let limits: ChildLimits;
let current: Call | undefined;
let isLoading = true;

const { parse, stringify } = JSON;
const { max } = Math;
const now = performance.now.bind(performance);
const { setImmediate: afterThisTurn } = globalThis;
const nextTurn = () => new Promise<void>(resolve => afterThisTurn(resolve));

function onUncaught(error: unknown): void {
  if (current) current.fail(error);
  else if (isLoading) failLoading(error);
  // Between two calls, there is no call to fail, and the component's state is unknown: the next call gets a new
  // process.
  else exitProcess(1);
}

const events = globalThis as unknown as EventTarget;
events.addEventListener("unhandledrejection", event => {
  event.preventDefault();
  onUncaught((event as Event & { reason: unknown }).reason);
});
events.addEventListener("error", event => {
  event.preventDefault();
  onUncaught((event as Event & { error: unknown }).error);
});

function failLoading(error: unknown): void {
  if (error instanceof InvalidComponentError)
    send({ kind: "rejected", path: error.path, message: error.message });
  else send({ kind: "failed", error: describeError(error) });
}

async function start(message: ParentMessage & { kind: "start" }): Promise<void> {
  limits = message.limits;
  setSecret(message.secret);
  const moduleUrl = new URL(`file://${message.modulePath}`);
  hideModulePath(moduleUrl);
  rerouteSockets(message.gatewayPath);
  replaceFetch();
  redirectTmp(message.privateFolder);
  lockDown(message.privateFolder);
  captureOutput((level, text) => current?.log(level, text));
  try {
    component = componentOf(await import(moduleUrl.href));
    isLoading = false;
    send({ kind: "loaded" });
  } catch (error) {
    failLoading(error);
  }
}

/** Runs the calls one after the other. All messages of a call are written before the next call starts. */
async function runCalls(
  firstCall: number,
  { events, ...request }: BatchRequest,
  startWithinMs: number,
): Promise<void> {
  const deadline = now() + startWithinMs;
  const props = stringify(request.props);
  let entries = dbEntries(request.db);
  send({ kind: "started", call: firstCall });
  for (let i = 0, isLast = false; i < events.length && !isLast; i++) {
    const startedAt = now();
    const number = firstCall + i;
    const call = openCall(number, limits);
    current = call;
    const db = openDb(entries, limits, call.fail);
    warnOfLateEmits(call);
    // Each call gets a new copy of the props, so that it does not see the changes of the previous call.
    const error = await attempt({ ...request, event: events[i], props: parse(props) }, call, db.service);
    call.close();
    const closed = db.close();
    entries = closed.entries;
    const ms = max(0, now() - startedAt);
    isLast = i + 1 < events.length && now() >= deadline;
    current = undefined;
    const changedDb = closed.changed === undefined ? "" : `,"db":${closed.changed}`;
    sendJson(
      `{"kind":"ended","call":${number},"ms":${ms}${isLast ? ',"last":true' : ""}${error}${changedDb}}`,
    );
  }
}

function warnOfLateEmits(call: Call): void {
  const late = resetLateEmits();
  if (late === 0) return;
  const what = late === 1 ? "1 event was" : `${late} events were`;
  call.log("warn", () => `${what} dropped: emitted after an earlier run had ended`);
}

/** Returns the `error` property of the `ended` message as JSON; empty if the call succeeded. */
async function attempt(request: CallRequest, call: Call, db: ServiceDb): Promise<string> {
  try {
    await Promise.race([invoke(request, call, db), call.failed]);
    // Waits for one turn of the event loop, so that an unhandled rejection still fails this call.
    await Promise.race([nextTurn(), call.failed]);
    return "";
  } catch (thrown) {
    return `,"error":${stringify(describeError(thrown))}`;
  }
}

async function invoke(request: CallRequest, call: Call, db: ServiceDb): Promise<void> {
  if (!component) throw new Error("no component is loaded");
  const self = bindThis(component, { request, call, db, maxResponseBytes: limits.maxResponseBytes });
  const entry = request.call === "run" ? component.run : objectOf(component.hooks)[request.call];
  if (typeof entry === "function") await entry.call(self, request.event);
  else if (request.call === "run") call.emit(request.event);
}

function describeNow(): void {
  try {
    if (component) send({ kind: "described", description: describeComponent(component) });
  } catch (error) {
    failLoading(error);
  }
}

void receive(message => {
  if (message.kind === "start") void start(message);
  else if (message.kind === "describe") describeNow();
  else void runCalls(message.call, message.request, message.startWithinMs);
});

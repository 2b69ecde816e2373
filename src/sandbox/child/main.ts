/** Runs inside deno, one component to a process. The host bundles it to `prelude.js` (see `prelude`). */
import type { CallRequest, CallsRequest } from "../protocol.ts";
import { bindThis } from "./bind-this.ts";
import { type Call, openCall, takeLateEmits } from "./call.ts";
import { captureOutput } from "./capture-output.ts";
import { type Component, ComponentFault, componentOf, objectOf } from "./component.ts";
import { describeComponent } from "./describe.ts";
import { describeError, hideModulePath } from "./describe-error.ts";
import { lockDown } from "./lock-down.ts";
import { rerouteSockets } from "./network.ts";
import { leave, receive, send, sendJson, useSecret } from "./port.ts";
import { privateFiles } from "./private-files.ts";
import { dbEntries, openDb, type ServiceDb } from "./service-db.ts";
import { replaceFetch } from "./web-fetch.ts";
import type { ChildLimits, ParentMessage } from "./wire.ts";

let component: Component | undefined;
let limits: ChildLimits;
let current: Call | undefined;
let isLoading = true;

const { parse, stringify } = JSON;
const { max } = Math;
const now = performance.now.bind(performance);
const { setImmediate: onNextTurn } = globalThis;
const turn = () => new Promise<void>(done => onNextTurn(done));

function onStray(error: unknown): void {
  if (current) current.fail(error);
  else if (isLoading) failLoading(error);
  // Between two calls nobody could be told, and what state is left nobody knows: the next call gets a new process.
  else leave(1);
}

const events = globalThis as unknown as EventTarget;
events.addEventListener("unhandledrejection", event => {
  event.preventDefault();
  onStray((event as Event & { reason: unknown }).reason);
});
events.addEventListener("error", event => {
  event.preventDefault();
  onStray((event as Event & { error: unknown }).error);
});

function failLoading(error: unknown): void {
  if (error instanceof ComponentFault) send({ kind: "refused", path: error.path, message: error.message });
  else send({ kind: "failed", error: describeError(error) });
}

async function start(message: ParentMessage & { kind: "start" }): Promise<void> {
  limits = message.limits;
  useSecret(message.secret);
  const moduleUrl = new URL(`file://${message.modulePath}`);
  hideModulePath(moduleUrl);
  rerouteSockets(message.gatewayPath);
  replaceFetch();
  privateFiles(message.directory);
  lockDown(message.directory);
  captureOutput((level, text) => current?.log(level, text));
  try {
    component = componentOf(await import(moduleUrl.href));
    isLoading = false;
    send({ kind: "loaded" });
  } catch (error) {
    failLoading(error);
  }
}

/** The calls one after the other; what one tells is written before the next begins, whatever becomes of that one. */
async function runCalls(first: number, { events, ...request }: CallsRequest, forMs: number): Promise<void> {
  const until = now() + forMs;
  const props = stringify(request.props);
  let entries = dbEntries(request.db);
  send({ kind: "started", call: first });
  for (let i = 0, isLast = false; i < events.length && !isLast; i++) {
    const began = now();
    const number = first + i;
    const call = openCall(number, limits);
    current = call;
    const db = openDb(entries, limits.maxDbBytes, call.fail);
    warnOfLateEmits(call);
    // Props anew for each: what a run changes in them is not for the next one.
    const error = await attempt({ ...request, event: events[i], props: parse(props) }, call, db.service);
    call.close();
    const ended = db.close();
    entries = ended.entries;
    const ms = max(0, now() - began);
    isLast = i + 1 < events.length && now() >= until;
    current = undefined;
    const changed = ended.changed === undefined ? "" : `,"db":${ended.changed}`;
    sendJson(`{"kind":"ended","call":${number},"ms":${ms}${isLast ? ',"last":true' : ""}${error}${changed}}`);
  }
}

function warnOfLateEmits(call: Call): void {
  const late = takeLateEmits();
  if (late === 0) return;
  const what = late === 1 ? "1 event was" : `${late} events were`;
  call.log("warn", () => `${what} dropped: emitted after an earlier run had ended`);
}

/** The end's part that tells the error, if there was one. */
async function attempt(request: CallRequest, call: Call, db: ServiceDb): Promise<string> {
  try {
    await Promise.race([invoke(request, call, db), call.failed]);
    // One turn of the event loop, so that a rejection nobody handled is seen before the call counts as good.
    await Promise.race([turn(), call.failed]);
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
  else void runCalls(message.call, message.request, message.forMs);
});

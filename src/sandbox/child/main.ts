/** Runs inside deno, one component to a process. The host bundles it to `prelude.js` (see `prelude`). */
import type { CallRequest } from "../protocol.ts";
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
import { openDb } from "./service-db.ts";
import { replaceFetch } from "./web-fetch.ts";
import type { ChildLimits, ParentMessage } from "./wire.ts";

let component: Component | undefined;
let limits: ChildLimits;
let current: Call | undefined;
let isLoading = true;

const { stringify } = JSON;
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

async function runCall(number: number, request: CallRequest): Promise<void> {
  const call = openCall(number, limits);
  current = call;
  const db = openDb(request.db, limits.maxDbBytes, call.fail);
  send({ kind: "started", call: number });
  const late = takeLateEmits();
  if (late > 0) {
    const what = late === 1 ? "1 event was" : `${late} events were`;
    call.log("warn", () => `${what} dropped: emitted after an earlier run had ended`);
  }
  let error: unknown;
  let hasFailed = false;
  try {
    await Promise.race([invoke(request, call, db.service), call.failed]);
    // One turn of the event loop, so that a rejection nobody handled is seen before the call counts as good.
    await Promise.race([turn(), call.failed]);
  } catch (thrown) {
    error = thrown;
    hasFailed = true;
  }
  call.close();
  current = undefined;
  const ended = hasFailed ? `,"error":${stringify(describeError(error))}` : "";
  const changed = db.changed();
  sendJson(`{"kind":"ended","call":${number}${ended}${changed === undefined ? "" : `,"db":${changed}`}}`);
}

async function invoke(
  request: CallRequest,
  call: Call,
  db: ReturnType<typeof openDb>["service"],
): Promise<void> {
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
  else void runCall(message.call, message.request);
});

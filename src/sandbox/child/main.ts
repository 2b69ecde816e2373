/** The program that deno runs, with one component's code per process. The host bundles it (`prelude.ts`). */
import { AsyncLocalStorage } from "node:async_hooks";
import type { ActionRequest, BatchRequest, CallRequest } from "../protocol.ts";
import { askEventNames, askOptions, describeAdditionalProps } from "./ask-props.ts";
import { authorText, hidePaths, mapPlaces, secretsOf } from "./author-text.ts";
import { bindThis } from "./bind-this.ts";
import { type Call, openCall, resetLateEmits } from "./call.ts";
import { captureOutput } from "./capture-output.ts";
import { type Component, componentOf, InvalidComponentError, objectOf } from "./component.ts";
import { describeComponent } from "./describe.ts";
import { describeError } from "./describe-error.ts";
import { replaceFetch, useNodeGlobals } from "./global-scope.ts";
import { lockDown, redirectTmp } from "./lock-down.ts";
import { exitProcess, receive, send, sendJson, setSecret } from "./port.ts";
import { rerouteSockets } from "./reroute-sockets.ts";
import { runAction } from "./run-action.ts";
import { type BundleScript, openScript } from "./script.ts";
import { dbEntries, openDb, type ServiceDb } from "./service-db.ts";
import { openSourceFolders, useFolder } from "./source-folder.ts";
import { isUnauthorized, readBodies } from "./vendor-response.ts";
import type { ChildLimits, ParentMessage } from "./wire.ts";

/** By the number of their source; each is an instance of the module for itself. */
const components = new Map<number, Component>();
const MAX_FRAMES = 40;
let limits: ChildLimits;
let moduleHref: string;
let modulePath: string;
/** The bundle, if it is a script. */
let script: BundleScript | undefined;
let enterFolder: (source: number) => void = () => {};
let current: Call | undefined;
let currentSource = 0;
let isLoading = true;
let mustExit = false;
/** The source whose code is executing, also after its call has ended. */
const sourceOf = new AsyncLocalStorage<number>();
const runAs = sourceOf.run.bind(sourceOf) as <Result>(source: number, work: () => Result) => Result;
const executing = sourceOf.getStore.bind(sourceOf);
/** False if another source's code, left over from its own call, executes during the call under way. */
const isOfCurrent = () => (executing() ?? currentSource) === currentSource;

const { parse, stringify } = JSON;
const { max } = Math;
const now = performance.now.bind(performance);
const { setImmediate: afterThisTurn } = globalThis;
const nextTurn = () => new Promise<void>(resolve => afterThisTurn(resolve));

function onUncaught(error: unknown): void {
  if (current && isOfCurrent()) current.fail(error);
  // Another source left it over, so this one may finish.
  else if (current) mustExit = true;
  else if (isLoading) failLoading(error);
  // Between two calls, there is no call to fail, and the component's state is unknown: the next call gets a new
  // process.
  else {
    send({ kind: "stray", error: describeError(error) });
    exitProcess(1);
  }
}

function failLoading(error: unknown): void {
  if (error instanceof InvalidComponentError)
    send({ kind: "rejected", path: error.path, message: error.message });
  else send({ kind: "failed", error: describeError(error) });
}

async function start(message: ParentMessage & { kind: "start" }): Promise<void> {
  limits = message.limits;
  setSecret(message.secret);
  moduleHref = new URL(`file://${message.modulePath}`).href;
  modulePath = message.modulePath;
  hidePaths(message);
  // Deno's ten are often all within a package, and none is the author's.
  Error.stackTraceLimit = MAX_FRAMES;
  rerouteSockets(message.gatewayPath);
  replaceFetch();
  redirectTmp(message.privateFolder);
  useFolder(message.privateFolder);
  if (message.isShared) enterFolder = openSourceFolders(message.privateFolder);
  lockDown();
  useNodeGlobals(onUncaught);
  captureOutput((level, text) => {
    if (isOfCurrent()) current?.log(level, () => authorText(text()));
  });
  await load(0);
}

async function load(source: number): Promise<void> {
  try {
    enterFolder(source);
    components.set(source, componentOf(await runAs(source, () => evaluate(source))));
    isLoading = false;
    send({ kind: "loaded" });
  } catch (error) {
    failLoading(error);
  }
}

/** Evaluates the bundle: an instance of its own for each source. Returns what it exports. */
function evaluate(source: number): Promise<Record<string, unknown>> | Record<string, unknown> {
  if (source === 0) {
    script = openScript(modulePath, moduleHref);
    if (script) mapPlaces(script.placeOf);
  }
  if (script) return script.evaluate();
  // Another URL is another instance of the module.
  return import(source === 0 ? moduleHref : `${moduleHref}?source=${source}`);
}

/** Runs the calls one after the other. All messages of a call are written before the next call starts. */
async function runCalls(
  source: number,
  firstCall: number,
  { events, ...request }: BatchRequest,
  startWithinMs: number,
): Promise<void> {
  const component = components.get(source);
  if (!component) throw new Error("no component is loaded");
  enterFolder(source);
  currentSource = source;
  const deadline = now() + startWithinMs;
  const props = stringify(request.props);
  let entries = dbEntries(request.db);
  send({ kind: "started", call: firstCall });
  for (let i = 0, isLast = false; i < events.length && !isLast; i++) {
    const startedAt = now();
    const number = firstCall + i;
    const call = openCall(number, limits);
    current = call;
    const db = openDb(entries, limits, call.fail, call.write);
    warnOfLateEmits(call);
    // Each call gets a new copy of the props, so that it does not see the changes of the previous call.
    const callRequest = { ...request, event: events[i], props: parse(props) };
    const failure = await attempt(
      () => invoke(component, callRequest, call, db.service),
      call,
      () => secretsOf(component, callRequest, call.secrets),
    );
    // Credentials that a server rejects are not tried again: the host may have newer ones for the next call.
    const mustStop = failure.isUnauthorized && request.stopsUnauthorized === true;
    call.close();
    const closed = db.close();
    entries = closed.entries;
    const ms = max(0, now() - startedAt);
    isLast = i + 1 < events.length && (mustStop || now() >= deadline);
    current = undefined;
    const changedDb = closed.changed === undefined ? "" : `,"db":${closed.changed}`;
    sendJson(
      `{"kind":"ended","call":${number},"ms":${ms}${isLast ? ',"last":true' : ""}${failure.json}${changedDb}}`,
    );
  }
  if (mustExit) exitProcess(1);
}

function warnOfLateEmits(call: Call): void {
  const late = resetLateEmits();
  if (late === 0) return;
  const what = late === 1 ? "1 event was" : `${late} events were`;
  call.log("warn", () => `${what} dropped: emitted after an earlier run had ended`);
}

interface Failure {
  /** What the `ended` message says of it, as JSON; empty if the call succeeded. */
  json: string;
  isUnauthorized: boolean;
}

/** Does the work of a call; never rejects. */
async function attempt(work: () => Promise<void>, call: Call, secrets: () => string[]): Promise<Failure> {
  try {
    await Promise.race([runAs(currentSource, work), call.failed]);
    // Waits for one turn of the event loop, so that an unhandled rejection still fails this call.
    await Promise.race([nextTurn(), call.failed]);
    return { json: "", isUnauthorized: false };
  } catch (thrown) {
    const unauthorized = isUnauthorized(thrown);
    const described = describeError(thrown, { bodies: await readBodies(thrown), secrets: secrets() });
    const error = `,"error":${stringify(described)}`;
    return { json: unauthorized ? `${error},"unauthorized":true` : error, isUnauthorized: unauthorized };
  }
}

async function invoke(component: Component, request: CallRequest, call: Call, db: ServiceDb): Promise<void> {
  const self = bindThis(component, { request, call, db, maxResponseBytes: limits.maxResponseBytes });
  if (request.call === "sampleEmit") return await emitSample(component.sampleEmit, self, call);
  if (request.call === "options") {
    return call.emit(await askOptions(component, self, request.event, request.added));
  }
  if (request.call === "additionalProps") {
    return call.emit(await describeAdditionalProps(component, self, request.added ?? []));
  }
  if (request.call === "eventNames") {
    return call.emit(await askEventNames(component, self, String(request.event), request.added));
  }
  if (request.call === "action") {
    return await runAction(component, self, request.event as ActionRequest, call);
  }
  const entry = request.call === "run" ? component.run : objectOf(component.hooks)[request.call];
  if (typeof entry === "function") await entry.call(self, request.event);
  else if (request.call === "run") call.emit(request.event);
}

/** A function may also emit by itself, and return nothing. */
async function emitSample(sample: unknown, self: object, call: Call): Promise<void> {
  const event = typeof sample === "function" ? await sample.call(self) : sample;
  if (event !== undefined) call.emit(event);
}

function describeNow(): void {
  const component = components.get(0);
  try {
    if (component) send({ kind: "described", description: describeComponent(component) });
  } catch (error) {
    failLoading(error);
  }
}

void receive(message => {
  if (message.kind === "start") void start(message);
  else if (message.kind === "load") void load(message.source);
  else if (message.kind === "describe") describeNow();
  else void runCalls(message.source, message.call, message.request, message.startWithinMs);
});

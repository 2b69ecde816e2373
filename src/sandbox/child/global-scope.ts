/** An event by which deno says that an error or a rejection was not handled. */
interface UncaughtEvent {
  type: string;
  error?: unknown;
  reason?: unknown;
  preventDefault(): void;
}

/**
 * Gives the global scope the names that Node has, and no others but those that `GLOBAL_DIFFERENCES` lists: libraries find out by
 * names such as `self`, `location` and `Deno` where they run, and would take the wrong way. Security does not depend on it.
 *
 * @param onUncaught receives what was thrown, or the reason of a rejection, in place of the listeners of the global scope
 */
export function useNodeGlobals(onUncaught: (thrown: unknown) => void): void {
  const dispatchEvent = (event: UncaughtEvent) => {
    if (event.type !== "error" && event.type !== "unhandledrejection") return true;
    event.preventDefault();
    onUncaught(event.type === "error" ? event.error : event.reason);
    return false;
  };
  hide("Deno", (globalThis as Record<string, unknown>).Deno);
  hide("dispatchEvent", dispatchEvent);
  // Code for other platforms wraps the component in it, without an import, for the sake of its types.
  define("defineComponent", { value: (component: unknown) => component, writable: true });
  const kept = new Set([...NODE_GLOBALS.keys(), ...Object.keys(GLOBAL_DIFFERENCES)]);
  for (const name of Reflect.ownKeys(globalThis)) {
    // Symbols are deno's own, by which it knows the global scope as what it dispatches events to.
    if (typeof name === "string" && !kept.has(name)) Reflect.deleteProperty(globalThis, name);
    else if (Reflect.getOwnPropertyDescriptor(globalThis, name)?.configurable) {
      Reflect.defineProperty(globalThis, name, { enumerable: ENUMERABLE.includes(String(name)) });
    }
  }
  define(Symbol.toStringTag, { value: "global" });
  restoreProto();
  hideEventTarget();
}

/** The global scope has to be an event target, as which deno treats it at the end of the process; its functions are hidden. */
function hideEventTarget(): void {
  const names = Object.getOwnPropertyNames(EventTarget.prototype).filter(name => name !== "constructor");
  const prototype = Object.create(EventTarget.prototype, { constructor: { value: Object } });
  for (const name of names) Reflect.defineProperty(prototype, name, { value: undefined, writable: true });
  Reflect.setPrototypeOf(globalThis, prototype);
}

/** deno takes `__proto__` away from objects, which older packages read and set. */
function restoreProto(): void {
  const { getPrototypeOf, setPrototypeOf } = Object;
  Reflect.defineProperty(Object.prototype, "__proto__", {
    configurable: true,
    enumerable: false,
    get(this: unknown): unknown {
      return getPrototypeOf(this);
    },
    set(this: unknown, proto: unknown) {
      const isObject = (typeof this === "object" && this !== null) || typeof this === "function";
      if (isObject && (typeof proto === "object" || typeof proto === "function")) setPrototypeOf(this, proto);
    },
  });
}

function define(name: PropertyKey, descriptor: PropertyDescriptor): void {
  Reflect.defineProperty(globalThis, name, { configurable: true, enumerable: false, ...descriptor });
}

/** Makes a global variable undefined for all but deno's own modules. */
function hide(name: string, value: unknown): void {
  let forOthers: unknown;
  const get = () => (isCalledByDeno(get) ? value : forOthers);
  define(name, {
    get,
    set(replaced: unknown) {
      forOthers = replaced;
    },
  });
}

// Stored before a component can replace them.
const { captureStackTrace } = Error;
const errors = Error;
const { getOwnPropertyDescriptor, defineProperty, deleteProperty } = Reflect;

/** The file of a frame, or of the module that evaluated its code, such as `eval at read (ext:deno_fs/30_fs.js:1:49)`. */
const OWN_FILE = /^(?:eval at [^(]*\()*(?:ext|node):/;

/** Returns true if the caller of a function is in one of deno's own modules. */
function isCalledByDeno(callee: () => unknown): boolean {
  const before = getOwnPropertyDescriptor(errors, "prepareStackTrace");
  const { stackTraceLimit } = errors;
  try {
    errors.stackTraceLimit = 1;
    defineProperty(errors, "prepareStackTrace", {
      value: (_error: unknown, [site]: NodeJS.CallSite[]) => site?.getFileName() ?? site?.getEvalOrigin(),
      configurable: true,
      writable: true,
    });
    const caller = {} as { stack?: unknown };
    captureStackTrace(caller, callee);
    return OWN_FILE.test(String(caller.stack));
  } catch {
    // The code has frozen Error; deno's modules must go on.
    return true;
  } finally {
    Reflect.set(errors, "stackTraceLimit", stackTraceLimit);
    if (before) defineProperty(errors, "prepareStackTrace", before);
    else deleteProperty(errors, "prepareStackTrace");
  }
}

/** The names of Node 24's global scope, by the type of their values; `test/sandbox/global-scope.test.ts` compares them with Node. */
const BY_TYPE = {
  function: `
    AbortController AbortSignal AggregateError Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array
    BigUint64Array Blob Boolean BroadcastChannel Buffer ByteLengthQueuingStrategy CloseEvent
    CompressionStream CountQueuingStrategy Crypto CryptoKey CustomEvent DOMException DataView Date
    DecompressionStream DisposableStack Error EvalError Event EventTarget File FinalizationRegistry
    Float16Array Float32Array Float64Array FormData Function Headers Int16Array Int32Array Int8Array
    Iterator Map MessageChannel MessageEvent MessagePort Navigator Number Object Performance
    PerformanceEntry PerformanceMark PerformanceMeasure PerformanceObserver PerformanceObserverEntryList
    PerformanceResourceTiming Promise Proxy RangeError ReadableByteStreamController ReadableStream
    ReadableStreamBYOBReader ReadableStreamBYOBRequest ReadableStreamDefaultController
    ReadableStreamDefaultReader ReferenceError RegExp Request Response Set SharedArrayBuffer String
    SubtleCrypto SuppressedError Symbol SyntaxError TextDecoder TextDecoderStream TextEncoder
    TextEncoderStream TransformStream TransformStreamDefaultController TypeError URIError URL URLPattern
    URLSearchParams Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet WebSocket
    WritableStream WritableStreamDefaultController WritableStreamDefaultWriter atob btoa clearImmediate
    clearInterval clearTimeout decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval fetch
    isFinite isNaN parseFloat parseInt queueMicrotask setImmediate setInterval setTimeout structuredClone
    unescape`,
  object: `
    Atomics Intl JSON Math Reflect WebAssembly console crypto global globalThis navigator performance
    process`,
  number: "Infinity NaN",
  undefined: "undefined",
};

const words = (text: string): string[] => text.trim().split(/\s+/);

/** Those that `Object.keys(globalThis)` has. */
export const ENUMERABLE: readonly string[] = words(
  "atob btoa clearImmediate clearInterval clearTimeout crypto fetch global navigator performance queueMicrotask setImmediate setInterval setTimeout structuredClone",
);

/** What `typeof` says of each name. */
export const NODE_GLOBALS: ReadonlyMap<string, string> = new Map(
  Object.entries(BY_TYPE).flatMap(([type, names]) => words(names).map(name => [name, type] as const)),
);

/** How the global scope of a component differs from Node 24's, and why. */
export const GLOBAL_DIFFERENCES: Readonly<Record<string, string>> = {
  defineComponent:
    "code for other platforms wraps the component in it, without an import, for the sake of its types",
  Deno: "deno's own modules read it at any time; for components it is undefined",
  dispatchEvent: "deno reports errors and rejections through it; for components it is undefined",
  PerformanceResourceTiming: "deno has none",
};

/** Globals that undici provides. They are replaced together, because `instanceof` fails between two implementations. */
const NAMES = ["fetch", "Headers", "Request", "Response", "FormData", "WebSocket"] as const;

type Undici = Record<(typeof NAMES)[number], unknown>;

/**
 * Replaces Deno's own `fetch` and related globals by undici's. Deno's would not use the gateway, so their connections
 * would be denied. undici is loaded at first use, because loading takes 30 ms of a cold start and most components use
 * only node:http, through axios.
 */
export function replaceFetch(): void {
  let loaded: Undici | undefined;
  const undici = () => {
    loaded ??= require("undici") as Undici;
    return loaded;
  };
  for (const name of NAMES) {
    Object.defineProperty(globalThis, name, {
      configurable: true,
      enumerable: false,
      get: () => undici()[name],
      set: (value: unknown) => {
        Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
      },
    });
  }
}

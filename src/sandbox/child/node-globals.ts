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

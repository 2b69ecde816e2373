import { ENUMERABLE, GLOBAL_DIFFERENCES, NODE_GLOBALS } from "./node-globals.ts";

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

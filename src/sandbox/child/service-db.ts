import { byteLength } from "./call.ts";
import { jsonDepth } from "./json-depth.ts";
import { MAX_DEPTH } from "./wire.ts";

/** `this.db`: both functions are synchronous (runtime.md, "$emit"). */
export interface ServiceDb {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

export interface OpenDb {
  service: ServiceDb;
  /** The whole db as JSON when something was set; undefined when not. */
  changed(): string | undefined;
}

const { parse, stringify } = JSON;

/**
 * Values are kept as JSON, so that a component which changes what it got does not change what is stored. A `set` that
 * would go over the limit fails the whole run through `fail`, even if the component catches it: the state it counts
 * on would not be there the next time.
 */
export function openDb(
  state: Record<string, unknown>,
  maxBytes: number,
  fail: (error: Error) => void,
): OpenDb {
  const entries = new Map(Object.entries(state).map(([key, value]) => [key, stringify(value)]));
  const sizeOf = (key: string, json: string | undefined) =>
    json === undefined ? 0 : byteLength(stringify(key)) + byteLength(json) + 2;
  let bytes = [...entries].reduce((sum, [key, json]) => sum + sizeOf(key, json), 1);
  let isChanged = false;

  function refuse(message: string): never {
    const error = new RangeError(message);
    fail(error);
    throw error;
  }

  function set(key: string, value: unknown): void {
    const name = String(key);
    const json = stringify(value) as string | undefined;
    if (json !== undefined && jsonDepth(json) > MAX_DEPTH) {
      refuse(`A value of the db may be nested ${MAX_DEPTH} levels deep ("${name.slice(0, 50)}")`);
    }
    const after = bytes - sizeOf(name, entries.get(name)) + sizeOf(name, json);
    if (after > maxBytes) {
      refuse(`The db may hold ${maxBytes} bytes; with "${name.slice(0, 50)}" it would have ${after}`);
    }
    bytes = after;
    isChanged = true;
    if (json === undefined) entries.delete(name);
    else entries.set(name, json);
  }

  return {
    service: {
      get(key) {
        const json = entries.get(String(key));
        return json === undefined ? undefined : parse(json);
      },
      set,
    },
    changed() {
      if (!isChanged) return undefined;
      return `{${[...entries].map(([key, json]) => `${stringify(key)}:${json}`).join(",")}}`;
    },
  };
}

import { byteLength } from "./call.ts";
import { jsonDepth } from "./json-depth.ts";
import { MAX_DEPTH } from "./wire.ts";

/** `this.db`: both functions are synchronous (runtime.md, "$emit"). */
export interface ServiceDb {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

/** The JSON of each value by its key. */
type DbEntries = Map<string, string>;

export interface OpenDb {
  service: ServiceDb;
  /** Its entries for the next call, and the whole db as JSON when something was set. What is set later has no effect. */
  close(): { entries: DbEntries; changed: string | undefined };
}

const { parse, stringify } = JSON;

export function dbEntries(state: Record<string, unknown>): DbEntries {
  return new Map(Object.entries(state).map(([key, value]) => [key, stringify(value)]));
}

/**
 * Values are kept as JSON, so that a component which changes what it got does not change what is stored. A `set` that
 * would go over the limit fails the whole run through `fail`, even if the component catches it: the state it counts
 * on would not be there the next time.
 */
export function openDb(entries: DbEntries, maxBytes: number, fail: (error: Error) => void): OpenDb {
  const sizeOf = (key: string, json: string | undefined) =>
    json === undefined ? 0 : byteLength(stringify(key)) + byteLength(json) + 2;
  let bytes = [...entries].reduce((sum, [key, json]) => sum + sizeOf(key, json), 1);
  let isChanged = false;
  let isClosed = false;

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
    if (isClosed) return;
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
    close() {
      isClosed = true;
      const json = () => `{${[...entries].map(([key, json]) => `${stringify(key)}:${json}`).join(",")}}`;
      return { entries, changed: isChanged ? json() : undefined };
    },
  };
}

import { scanJson } from "../../lib/scan-json.ts";
import { byteLength } from "./call.ts";
import { withHidden } from "./component.ts";
import type { ChildLimits } from "./wire.ts";

/** `this.db`; both functions are synchronous (docs/component-api.md#db). */
export interface ServiceDb {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

/** The JSON of each value, by key. */
type DbEntries = Map<string, string>;

export interface OpenDb {
  service: ServiceDb;
  /**
   * Ends the call's access: a later `set` has no effect. Returns the entries for the next call, and the whole db as
   * JSON if anything was set.
   */
  close(): { entries: DbEntries; changed: string | undefined };
}

const { parse, stringify } = JSON;

export function dbEntries(state: Record<string, unknown>): DbEntries {
  return new Map(Object.entries(state).map(([key, value]) => [key, stringify(value)]));
}

/**
 * Opens the db for one call. Each `set` is reported to `write` with the JSON of its value, undefined if it deletes the key, so
 * that the host knows it even if the process is ended. Values are kept as JSON, so that a component can't change a stored value by changing the
 * object that `get` returned. A `set` that exceeds the limit throws, and also fails the run through `fail`, even if the
 * component catches the error, because the component relies on state that would be missing in the next run.
 */
export function openDb(
  entries: DbEntries,
  { maxDbBytes, maxDepth }: Pick<ChildLimits, "maxDbBytes" | "maxDepth">,
  fail: (error: Error) => void,
  write: (key: string, json: string | undefined) => void,
): OpenDb {
  const sizeOf = (key: string, json: string | undefined) =>
    json === undefined ? 0 : byteLength(stringify(key)) + byteLength(json) + 2;
  let bytes = [...entries].reduce((sum, [key, json]) => sum + sizeOf(key, json), 1);
  let isChanged = false;
  let isClosed = false;

  function reject(message: string): never {
    const error = new RangeError(message);
    fail(error);
    throw error;
  }

  function set(key: string, value: unknown): void {
    const name = String(key);
    const json = stringify(value) as string | undefined;
    if (json !== undefined && scanJson(json).depth > maxDepth) {
      reject(`A value of the db can be nested at most ${maxDepth} levels deep ("${name.slice(0, 50)}")`);
    }
    const after = bytes - sizeOf(name, entries.get(name)) + sizeOf(name, json);
    if (after > maxDbBytes) {
      reject(
        `The db can hold at most ${maxDbBytes} bytes; with "${name.slice(0, 50)}" it would hold ${after}`,
      );
    }
    if (isClosed) return;
    bytes = after;
    isChanged = true;
    if (json === undefined) entries.delete(name);
    else entries.set(name, json);
    write(name, json);
  }

  return {
    service: withHidden(
      {},
      {
        get(key: string) {
          const json = entries.get(String(key));
          return json === undefined ? undefined : parse(json);
        },
        set,
      },
    ) as unknown as ServiceDb,
    close() {
      isClosed = true;
      const json = () => `{${[...entries].map(([key, json]) => `${stringify(key)}:${json}`).join(",")}}`;
      return { entries, changed: isChanged ? json() : undefined };
    },
  };
}

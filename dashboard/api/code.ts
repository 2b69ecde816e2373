import { ApiError, type CallOptions, headwater } from "./client";
import { wholeEvent } from "./source";

/** Returns the event on which a run failed, by the id of its error; undefined once the error is no longer kept. */
export async function failedInput(id: string, errorId: string): Promise<unknown> {
  const summary = {
    id: errorId,
    indexed_at_ms: 0,
    event: {},
    metadata: { name: "$errors", emitter_id: id, emit_id: "" },
  };
  return (await wholeEvent(summary)).event.original_event;
}

/** The component of a source; null where its code belongs to another member. */
export const readComponent = (id: string, call?: CallOptions) =>
  headwater.components.get(id, call).catch(error => {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  });

/** The code of a component as it is edited: its files by path, or one text, whose path is empty. */
export interface Code {
  files: Record<string, string>;
  entry: string;
}

export const codeOf = (text: string): Code => ({ files: { "": text }, entry: "" });

/** The fields of a request that has this code. */
export const codeBody = ({ files, entry }: Code) =>
  entry === "" ? { component_code: files[entry] ?? "" } : { files, entry };

export const isSameCode = (one: Code, other: Code): boolean =>
  Object.keys({ ...one.files, ...other.files }).every(path => one.files[path] === other.files[path]);

/** The code of a saved component. */
export interface SavedCode {
  id: string;
  code: Code;
  /** True if only its main file is known. */
  isPart: boolean;
}

/** Reads the code of a component; null where it belongs to another member. */
export async function readCode(id: string, call?: CallOptions): Promise<SavedCode | null> {
  const component = await readComponent(id, call);
  return component && (await filesOf(component, call));
}

/** Reads the files of a component that was read. */
export async function filesOf(
  { id, code }: { id: string; code: string },
  call?: CallOptions,
): Promise<SavedCode> {
  const { files, entry } = await headwater.components.files(id, call);
  return { id, code: files && entry !== null ? { files, entry } : codeOf(code), isPart: files === null };
}

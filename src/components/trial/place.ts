import { posix } from "node:path";
import { CODE_ID } from "../load-modules.ts";
import type { GivenFiles } from "../read-files.ts";

/** Where in the component's code something is; both count from 1, and are null if it is not known. */
export interface Place {
  line: number | null;
  column: number | null;
}

/** A place in one of a component's files. */
export interface FilePlace extends Place {
  /** Its path in the request; null for code that is one file, and if it is not known. */
  file: string | null;
}

const placeOf = (found: RegExpExecArray | null): Place =>
  found ? { line: Number(found[1]), column: Number(found[2]) } : { line: null, column: null };

/** Returns the innermost place of the component's own code in a stack, for a component of one file. */
export const placeInStack = (stack: string): Place =>
  placeOf(new RegExp(`\\b${CODE_ID.replaceAll(".", "\\.")}:(\\d{1,9}):(\\d{1,9})`).exec(stack));

/** Returns the innermost place in a stack, in one of these files, or in the only one. */
export function placeInFiles(stack: string, files: GivenFiles | null): FilePlace {
  if (!files) return { ...placeInStack(stack), file: null };
  const ids = [...idsOf(files)];
  for (const frame of stack.split("\n")) {
    for (const [id, file] of ids) {
      const at = frame.lastIndexOf(`${id}:`);
      const place = placeOf(/^:(\d{1,9}):(\d{1,9})/.exec(frame.slice(at + id.length)));
      if (at !== -1 && place.line !== null && /(?:^|[\s(])$/.test(frame.slice(0, at)))
        return { ...place, file };
    }
  }
  return { line: null, column: null, file: null };
}

/** Returns the place that a message names: `… line 3, column 9 …` of the bundler, `… (at component.js:3:9)` of a run. */
export function placeInMessage(message: string, files: GivenFiles | null): FilePlace {
  const place = placeOf(/\bline (\d{1,9}), column (\d{1,9})/.exec(message));
  if (place.line === null) return placeInFiles(message, files);
  const named =
    files &&
    [...idsOf(files)].find(([id]) => message.startsWith(`${id}: `) || message.startsWith(`${id} imports `));
  return { ...place, file: named?.[1] ?? null };
}

/** Returns the paths by what stacks and messages call the files: relative to the folder of the entry. */
const idsOf = ({ files, entry }: GivenFiles): Map<string, string> =>
  new Map(Object.keys(files).map(path => [posix.relative(posix.dirname(entry), path), path]));

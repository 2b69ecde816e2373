import { CODE_ID } from "../load-modules.ts";

/** Where in the component's code something is; both count from 1, and are null if it is not known. */
export interface Place {
  line: number | null;
  column: number | null;
}

const placeOf = (found: RegExpExecArray | null): Place =>
  found ? { line: Number(found[1]), column: Number(found[2]) } : { line: null, column: null };

/** Returns the place that a message names: `… line 3, column 9 …` of the bundler, `… (at component.js:3:9)` of a run. */
export function placeInMessage(message: string): Place {
  const found = placeOf(/\bline (\d{1,9}), column (\d{1,9})/.exec(message));
  return found.line === null ? placeInStack(message) : found;
}

/** Returns the innermost place of the component's own code in a stack. */
export const placeInStack = (stack: string): Place =>
  placeOf(new RegExp(`\\b${CODE_ID.replaceAll(".", "\\.")}:(\\d{1,9}):(\\d{1,9})`).exec(stack));

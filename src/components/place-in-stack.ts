/** A frame of the component's own files, whose names are relative: `    at deploy (acme.mjs:12:9)`. */
const FRAME = /^\s+at (?:.*\()?((?!node:|ext:|file:|\/)[^\s()]+:\d+:\d+)\)?$/m;

/** Returns where an error was thrown, as text for a message: ` (acme.mjs:12:9)`; empty if its stack does not say. */
export function placeInStack(stack: string): string {
  const [, place] = FRAME.exec(stack) ?? [];
  return place === undefined ? "" : ` (${place.slice(0, 300)})`;
}

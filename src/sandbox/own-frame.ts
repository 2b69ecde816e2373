/** A frame of the component's own files, whose names are relative: `    at deploy (acme.mjs:12:9)`. */
const FRAME = /^\s+at (?:.*\()?((?!node:|ext:|file:|\/)[^\s()]+:\d+:\d+)\)?$/m;
const MAX_CHARS = 300;

/** Returns an error's message, and behind it where in the component's own files it was thrown, if its stack says so. */
export function withFrame(message: string, stack: string): string {
  const [, frame] = FRAME.exec(stack) ?? [];
  return frame === undefined ? message : `${message} (at ${frame.slice(0, MAX_CHARS)})`;
}

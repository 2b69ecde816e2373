const MAX_CHARS = 300;
/**
 * A place in the component's own files, whose names are relative: `acme.mjs:12:9`. Bounds keep the expression from being slow for
 * a stack that was written to make it so.
 */
const PLACE = String.raw`((?!node:|ext:|file:|npm:|\/)[^\n]{1,300}?:\d+:\d+)`;
const FRAME = new RegExp(String.raw`^[ \t]+at (?:[^\n]{0,300}? \(${PLACE}\)|(?:async )?${PLACE})$`, "m");

/** Returns an error's message, and behind it where in the component's own files it was thrown, if its stack says so. */
export function withFrame(message: string, stack: string): string {
  const [, named, frame = named] = FRAME.exec(stack) ?? [];
  return frame === undefined ? message : `${message} (at ${frame.slice(0, MAX_CHARS)})`;
}

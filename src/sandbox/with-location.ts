import type { CallError } from "./protocol.ts";

/** Returns the message of an error with the first place in the component's own files, file, line and column. */
export function withLocation({ message, stack }: CallError): string {
  const location = /^\s+at .*?([^\s(]+:\d+:\d+)\)?$/m.exec(stack)?.[1];
  return location ? `${message} (at ${location})` : message;
}

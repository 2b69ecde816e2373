import type { CallError } from "./protocol.ts";

/** Returns an error that the host raises about a call. It has no stack in the component. */
export function hostError(code: string, message: string): CallError {
  return { code, message, stack: `${code}: ${message}` };
}

import type { CallError } from "./protocol.ts";

/** Returns an error that the host raises about a call; its stack is that of what the component left behind, if anything. */
export function hostError(code: string, message: string, stack = `${code}: ${message}`): CallError {
  return { code, message, stack };
}

/** The code of a process that was ended by a signal from outside: the kernel, an operator, another program. */
export const SANDBOX_LOST = "Sandbox Lost";

/** True if the process was ended from outside, so that the same call may succeed in another one. */
export const isSandboxLost = (error: Pick<CallError, "code"> | undefined): boolean =>
  error?.code === SANDBOX_LOST;

import { LIMITS } from "../../limits/catalogue.ts";
import type { Session } from "../../models/session.ts";

/** Returns when a session ends: some time after its last use, but never long after its start (docs/limits.md). */
export function expiryOf({ created_at, last_used_at }: Pick<Session, "created_at" | "last_used_at">): Date {
  const idle = last_used_at * 1000 + LIMITS.sessionIdleMs.value;
  return new Date(Math.min(idle, created_at * 1000 + LIMITS.sessionMs.value));
}

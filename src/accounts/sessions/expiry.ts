import { LIMITS } from "../../limits/catalogue.ts";
import type { Session } from "../../models/session.ts";

/** Returns how long a session lives, however much it is used: less if an OpenID provider vouched for its user. */
export const lifeOf = ({ key_id }: Pick<Session, "key_id">): number =>
  (key_id === null ? LIMITS.providerSessionMs : LIMITS.sessionMs).value;

/** Returns when a session ends: some time after its last use, but never long after its start (docs/limits.md). */
export function expiryOf(session: Pick<Session, "created_at" | "last_used_at" | "key_id">): Date {
  const idle = session.last_used_at * 1000 + LIMITS.sessionIdleMs.value;
  return new Date(Math.min(idle, session.created_at * 1000 + lifeOf(session)));
}

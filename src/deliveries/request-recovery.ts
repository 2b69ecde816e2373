import { notFound } from "../lib/errors.ts";
import type { Webhook } from "../models/webhook.ts";
import { presentRecovery } from "./present.ts";
import { countFailed, startRecovery } from "./recover.ts";
import type { RecoveryView } from "./schema.ts";

/**
 * Has a worker retry the failed deliveries since a moment (Unix seconds), or only counts them (`dry_run`). Throws `conflict`
 * for a disabled webhook or destination.
 */
export async function requestRecovery(
  platform: Parameters<typeof startRecovery>[0],
  webhook: Webhook,
  { since, dry_run }: { since: number; dry_run?: boolean },
): Promise<RecoveryView> {
  if (!dry_run) return presentRecovery(await startRecovery(platform, webhook, since * 1000));
  const count = await countFailed(platform, webhook, since * 1000);
  return { count, recovered: 0, state: "counted", since, started_at_ms: null, finished_at_ms: null };
}

/** Returns the progress of the last recovery. Throws `not-found` if there was none. */
export function readRecovery({ recovery }: Webhook): RecoveryView {
  if (!recovery) throw notFound("recovery");
  return presentRecovery(recovery);
}

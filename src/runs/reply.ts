import type { Stores } from "../platform.ts";
import { type Reply, sendReply } from "../queues/replies.ts";

/** Sends a message to the process that waits for this run, if any. */
export async function reply(
  platform: Stores,
  to: { run_id: string; reply_to?: string | undefined },
  message: Reply,
): Promise<void> {
  if (!to.reply_to) return;
  await sendReply(platform.redis, platform.keys, { processId: to.reply_to, runId: to.run_id }, message);
}

import { join } from "node:path";
import { bundleProcesses } from "./bundle.ts";
import { type Child, startChild } from "./child.ts";

/** The two ends of a measurement, in processes of their own. */
export interface Ends {
  sender: Child;
  receiver: Child;
  receiverUrl: string;
  /** Of the bundled processes; those of the raw limit are there too. */
  folder: string;
  stop(): Promise<void>;
}

export async function startEnds(root: string, logFile: string): Promise<Ends> {
  const folder = await bundleProcesses(root);
  const sender = await startChild(join(folder, "sender.mjs"), { logFile });
  const receiver = await startChild(join(folder, "receiver.mjs"), { logFile });
  return {
    sender,
    receiver,
    receiverUrl: `http://127.0.0.1:${await receiver.ask<number>({ do: "listen" })}`,
    folder,
    async stop() {
      await Promise.all([sender.stop(), receiver.stop()]);
    },
  };
}

/**
 * At the first signal both ends stop, so that whoever waits for one of them fails and stops all the rest in order; the
 * second one ends this process at once.
 */
export function stopOnSignal(ends: Ends): void {
  for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => void ends.stop());
}

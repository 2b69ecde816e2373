import { join } from "node:path";
import { bundleProcesses } from "./bundle.ts";
import { type Child, startChild } from "./child.ts";

/** The two ends of a measurement, each in a process of its own. */
export interface Ends {
  sender: Child;
  receiver: Child;
  receiverUrl: string;
  /** Folder of the bundled processes, including those of the raw limit. */
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
    receiverUrl: `http://127.0.0.1:${await receiver.request<number>({ do: "listen" })}`,
    folder,
    async stop() {
      await Promise.all([sender.stop(), receiver.stop()]);
    },
  };
}

/**
 * Stops both ends at the first signal, so that the measurement fails and stops all other processes in order. The second
 * signal ends this process at once. The returned function undoes it.
 */
export function stopOnSignal(ends: Ends): () => void {
  const stop = () => void ends.stop();
  const names = ["SIGINT", "SIGTERM"];
  for (const name of names) process.once(name, stop);
  return () => {
    for (const name of names) process.off(name, stop);
  };
}

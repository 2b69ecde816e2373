import type { Ends } from "../ends.ts";
import { type Figures, type Load, measure } from "../measure.ts";
import type { Stores } from "../stores.ts";
import { type InstalledPeer, installPeer } from "./install.ts";
import { n8n } from "./n8n.ts";
import { nodeRed } from "./node-red.ts";
import { PeerUnavailable } from "./peer.ts";

const PEERS = { "node-red": nodeRed, n8n };
export type PeerName = keyof typeof PEERS;
export const PEER_NAMES = Object.keys(PEERS) as PeerName[];

/** What a product does under the load that Headwater had right before. */
export interface PeerRow {
  title: string;
  figures: Figures;
}

/**
 * Installs the products; says why one can't be measured here, and goes on without it. Products that are measured beside
 * Headwater are no dependencies: nothing of them is there before somebody asks for one.
 */
export async function installPeers(
  root: string,
  names: PeerName[],
  print: (line: string) => void,
): Promise<InstalledPeer[]> {
  const installed: InstalledPeer[] = [];
  for (const name of names) {
    try {
      installed.push(await installPeer(root, PEERS[name], print));
    } catch (error) {
      if (!(error instanceof PeerUnavailable)) throw error;
      print(`${name} is left out: ${error.message}`);
    }
  }
  return installed;
}

/** Starts a product for one load only, so that it costs nothing while others are measured. */
export async function measurePeer(
  peer: InstalledPeer,
  load: Load,
  { ends, ...options }: { ends: Ends; stores: Stores; senders: number; logFile: string },
): Promise<PeerRow> {
  const { folder, node, version } = peer;
  const running = await peer.start({ ...options, folder, node, receiverUrl: ends.receiverUrl });
  try {
    await running.whenIdle();
    const figures = await measure(running, load, ends);
    return { title: `${peer.title} ${version}`, figures };
  } finally {
    await running.stop();
  }
}

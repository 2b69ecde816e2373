import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { lastLine, run } from "../../script/lib/commands.mjs";
import { installNode, type NodeBinary } from "../node-binary.ts";
import { type Peer, PeerUnavailable } from "./peer.ts";

/** The Node that both products support. */
const NODE = "24";

export interface InstalledPeer extends Peer {
  folder: string;
  node: NodeBinary;
}

/**
 * Returns a product in the version that it is measured in, installed below `.cache/peers` by the first run that asks for it, and
 * the Node that runs it. Throws PeerUnavailable.
 */
export async function installPeer(
  root: string,
  peer: Peer,
  print: (line: string) => void,
): Promise<InstalledPeer> {
  const { packageName, version, size } = peer;
  await peer.prepare?.(root);
  const node = nodeFor(root, packageName);
  const folder = join(root, ".cache/peers", `${packageName}-${version}`);
  if (existsSync(folder)) return { ...peer, folder, node };
  print(`installing ${packageName} ${version} by npm (${size})`);
  // An installation that was interrupted is not taken for a complete one.
  const unfinished = `${folder}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  // Install scripts would fetch and build native parts for services that the measurement does not use.
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", `--prefix=${unfinished}`];
  const { code, output } = await run("npm", [...args, `${packageName}@${version}`], {
    // npm checks that each package supports the Node that will run it.
    env: { ...process.env, PATH: [dirname(node.path), process.env.PATH].join(delimiter) },
    logFile: join(root, ".cache/peers", `${packageName}.log`),
  });
  if (code !== 0) throw new PeerUnavailable(`npm could not install it (${reasonOf(output)})`);
  renameSync(unfinished, folder);
  return { ...peer, folder, node };
}

function nodeFor(root: string, packageName: string): NodeBinary {
  try {
    return installNode(root, NODE);
  } catch (error) {
    throw new PeerUnavailable(
      `${packageName} needs Node ${NODE}, which npm could not install (${lastLine((error as Error).message)})`,
    );
  }
}

/** npm's own reason; its last line only names the log. */
function reasonOf(output: string): string {
  const reason = /^npm error (?!code )(\S.*)$/m.exec(output)?.[1];
  return reason ?? lastLine(output);
}

import { createServer, type Server } from "node:net";

/** A block of user ids, and group ids of the same numbers, that no other host on this machine uses. */
export interface UserIds {
  first: number;
  last: number;
  /** Returns the lowest free id. Throws if none is free. */
  acquire(): number;
  release(id: number): void;
  /** Gives up the block. */
  close(): Promise<void>;
}

const BLOCK_SIZE = 1000;
const BLOCK_COUNT = 64;

/**
 * Claims a block of a thousand ids from `firstId` on, so that the sandboxes of two workers never share an id. The claim
 * is a socket in the abstract namespace: the kernel grants it to one process only and frees it if that process dies.
 * Returns undefined if all blocks are claimed or the system has no such sockets.
 */
export async function claimUserIds(firstId: number): Promise<UserIds | undefined> {
  if (process.platform !== "linux") return undefined;
  for (let block = 0; block < BLOCK_COUNT; block++) {
    const first = firstId + block * BLOCK_SIZE;
    const claim = await listen(`\0headwater-sandbox-ids-${first}`);
    if (claim) return createUserIds(first, claim);
  }
  return undefined;
}

function listen(path: string): Promise<Server | undefined> {
  return new Promise(resolve => {
    const server = createServer(socket => socket.destroy());
    server.once("error", () => resolve(undefined));
    server.listen(path, () => resolve(server.unref()));
  });
}

function createUserIds(first: number, claim: Server): UserIds {
  const used = new Set<number>();
  return {
    first,
    last: first + BLOCK_SIZE - 1,
    acquire() {
      for (let id = first; id < first + BLOCK_SIZE; id++) {
        if (used.has(id)) continue;
        used.add(id);
        return id;
      }
      throw new Error("all user ids for sandboxes are in use");
    },
    release: id => void used.delete(id),
    // Closing it twice does nothing.
    close: () => new Promise<void>(resolve => claim.close(() => resolve())),
  };
}

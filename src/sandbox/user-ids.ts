import { createServer } from "node:net";

/** User ids (and group ids of the same number) that no other host on this machine gives away. */
export interface UserIds {
  first: number;
  last: number;
  /** The lowest that is free. */
  take(): number;
  giveBack(id: number): void;
  close(): Promise<void>;
}

const BLOCK = 1000;
const BLOCKS = 64;

/**
 * Claims a block of a thousand ids from `firstId` on, so that the sandboxes of two workers never share one. The claim
 * is a socket of the abstract namespace: the kernel gives it to one process only, and takes it back when that dies.
 * Nothing when all blocks are taken or the system has no such sockets.
 */
export async function claimUserIds(firstId: number): Promise<UserIds | undefined> {
  if (process.platform !== "linux") return undefined;
  for (let block = 0; block < BLOCKS; block++) {
    const first = firstId + block * BLOCK;
    const claim = await listen(`\0headwater-sandbox-ids-${first}`);
    if (claim) return userIds(first, claim);
  }
  return undefined;
}

type Claim = ReturnType<typeof createServer>;

function listen(path: string): Promise<Claim | undefined> {
  return new Promise(done => {
    const server = createServer(socket => socket.destroy());
    server.once("error", () => done(undefined));
    server.listen(path, () => done(server.unref()));
  });
}

function userIds(first: number, claim: Claim): UserIds {
  const taken = new Set<number>();
  return {
    first,
    last: first + BLOCK - 1,
    take() {
      for (let id = first; id < first + BLOCK; id++) {
        if (taken.has(id)) continue;
        taken.add(id);
        return id;
      }
      throw new Error("all user ids for sandboxes are taken");
    },
    giveBack: id => void taken.delete(id),
    close: () => new Promise<void>(done => claim.close(() => done())),
  };
}

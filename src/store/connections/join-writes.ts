import type { Writable } from "node:stream";
import { Cluster, type Redis } from "ioredis";

/**
 * Has the commands that a client sends in the same turn of the event loop written to the socket together: a write costs
 * more of the processor's time than all else of a command, on both ends (docs/performance.md). Their order stays. ioredis' own way,
 * `enableAutoPipelining`, holds every command until `setImmediate`; redis/ioredis#343 proposed to join writes as here, and was closed.
 * It goes when `test/store/connections/join-writes.test.ts` fails, because ioredis alone joins them.
 */
export function joinWrites(client: Redis | Cluster): void {
  if (client instanceof Cluster) client.on("+node", joinOf);
  else joinOf(client);
}

function joinOf(node: Redis): void {
  const send = node.sendCommand.bind(node);
  node.sendCommand = (command, stream) => {
    // Absent before the first connection.
    if (node.stream) holdUntilTurnEnds(node.stream);
    return send(command, stream);
  };
}

const held = new WeakSet<Writable>();

function holdUntilTurnEnds(stream: Writable): void {
  if (held.has(stream)) return;
  held.add(stream);
  stream.cork();
  // After the microtasks that are due now, in which most commands are sent.
  process.nextTick(() => {
    held.delete(stream);
    stream.uncork();
  });
}

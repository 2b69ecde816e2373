import type { Cluster } from "ioredis";

/**
 * How often a client asks which master has which slots. It would also learn it from an error, but a master that hangs
 * sends none, and the cluster has given its slots to a replica by then.
 */
const SLOTS_REFRESH_MS = 3000;

/**
 * Has a client of a cluster outlive failovers, and its copies, with one of which each worker of BullMQ waits for jobs. With
 * ioredis 6.0.0 alone a client that is closing when a server says MOVED connects to that node, and then never ends:
 * BullMQ, which opens its copy again while a failover lasts, would wait for the end, and its worker take no job any more.
 */
export function keepSteady(cluster: Cluster): Cluster {
  const duplicate = cluster.duplicate.bind(cluster);
  cluster.duplicate = ((...args: Parameters<typeof duplicate>) =>
    keepSteady(duplicate(...args) as Cluster)) as Cluster["duplicate"];
  cluster.on("+node", node => {
    if (cluster.status === "disconnecting") node.disconnect();
  });
  // ioredis' own `slotsRefreshInterval` goes on for ever, and keeps the process alive, if a client is closed during a refresh.
  let timer: NodeJS.Timeout | undefined;
  cluster.on("ready", () => {
    clearInterval(timer);
    timer = setInterval(() => {
      if (cluster.status === "ready") cluster.refreshSlotsCache();
    }, SLOTS_REFRESH_MS);
    timer.unref();
  });
  cluster.on("end", () => clearInterval(timer));
  return cluster;
}

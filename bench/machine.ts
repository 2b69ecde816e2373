import { cpus, release, totalmem } from "node:os";
import { type Stores, versionOf } from "./stores.ts";

/** When and where the figures were measured. */
export interface Machine {
  date: string;
  cpu: string;
  memoryGb: number;
  kernel: string;
  node: string;
  mongodb: string;
  redis: string;
}

export function machineOf(stores: Stores): Machine {
  const [mongodb, redis] = stores.watched.map(versionOf);
  const all = cpus();
  return {
    date: new Date().toISOString(),
    cpu: `${all.length} x ${all[0]?.model.trim() ?? "unknown"}`,
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    node: process.version,
    mongodb: mongodb ?? "unknown",
    redis: redis ?? "unknown",
  };
}

export function machineLine(machine: Machine): string {
  const { date, cpu, memoryGb, kernel, node, mongodb, redis } = machine;
  return `${date}, ${cpu}, ${memoryGb} GB, Linux ${kernel}, Node ${node}, MongoDB ${mongodb}, Redis ${redis}`;
}

import type { OwnStore } from "../support/own-stores.ts";
import { until } from "../support/until.ts";
import type { Fault } from "./faults.ts";
import type { Installation } from "./installation.ts";
import { pause } from "./pause.ts";
import { processesWith } from "./processes.ts";

const REFILL_MS = 500;
const REWRITE_MS = 30_000;

/** Does what the fault says, and undoes it after its time; resolves when the affected thing is starting again. */
export async function inject(installation: Installation, fault: Fault): Promise<void> {
  switch (fault.kind) {
    case "process":
      return await breakProcess(installation, fault);
    case "store":
      return await breakStore(installation.stores[fault.store], fault);
    case "no-primary":
      return await stepDown(installation, fault.forMs);
    case "sandboxes":
      return killSandboxes(installation, fault.share);
    case "clock":
      installation.moveClock(fault.name, fault.byMs);
      await pause(fault.forMs);
      return installation.moveClock(fault.name, 0);
    case "disk":
      return await fillDisk(installation, fault);
  }
}

type Of<Kind extends Fault["kind"]> = Extract<Fault, { kind: Kind }>;

async function breakProcess({ processes }: Installation, { how, name, forMs }: Of<"process">): Promise<void> {
  const broken = processes.find(one => one.name === name);
  if (!broken) return;
  if (how === "freeze") {
    broken.freeze();
    await pause(forMs);
    return broken.thaw();
  }
  const ending = await broken.end(how === "kill" ? "SIGKILL" : "SIGTERM");
  // One that had not started yet is ended by the signal itself.
  const isInOrder = how === "kill" || ending === 0 || ending === "SIGTERM" || ending === 1 || ending === null;
  if (!isInOrder) broken.unexpected.push({ name, how: `SIGTERM ended it with ${ending}`, logFile: "" });
  await pause(forMs);
  broken.start();
}

async function breakStore(store: OwnStore, { how, forMs }: Of<"store">): Promise<void> {
  if (how === "freeze") {
    store.freeze();
    await pause(forMs);
    return store.thaw();
  }
  await (how === "stop" ? store.stop() : store.kill());
  if (how === "away") await pause(forMs);
  await store.start();
}

async function stepDown({ platform, stores }: Installation, forMs: number): Promise<void> {
  const command = {
    replSetStepDown: Math.max(1, Math.round(forMs / 1000)),
    secondaryCatchUpPeriodSecs: 0,
    force: true,
  };
  await platform.mongo
    .getClient()
    .db("admin")
    .command(command)
    .catch(() => undefined);
  await pause(forMs);
  await stores.mongo.start();
}

/** Kills the deno processes of the installation, as the kernel does when memory is short. */
function killSandboxes({ folder }: Installation, share: number): void {
  const sandboxes = processesWith("deno", `${folder}/`).sort((one, other) => one - other);
  for (const pid of sandboxes.slice(0, Math.ceil(sandboxes.length * share))) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended in between.
    }
  }
}

async function fillDisk(
  { disks, platform, stores }: Installation,
  { disk: name, forMs }: Of<"disk">,
): Promise<void> {
  const disk = disks[name];
  if (!disk) return;
  const endsAt = Date.now() + forMs;
  while (Date.now() < endsAt) {
    disk.fill();
    await pause(REFILL_MS);
  }
  disk.free();
  // MongoDB ends itself when it can't write its journal.
  if (name !== "sandboxes") await stores[name].start();
  if (name === "redis") await rewriteAppendOnlyFile(platform);
}

/** What docs/troubleshooting.md says an operator does after Redis' disk was full. */
async function rewriteAppendOnlyFile({ redis }: Installation["platform"]): Promise<void> {
  const isOk = async () => {
    const info = await redis.info("persistence").catch(() => "");
    const isWritten = /aof_last_write_status:ok/.test(info) && /aof_last_bgrewrite_status:ok/.test(info);
    return isWritten && /aof_rewrite_in_progress:0/.test(info) && /aof_rewrite_scheduled:0/.test(info);
  };
  await until(isOk, { timeoutMs: REWRITE_MS, what: "Redis to write again" });
  await redis.bgrewriteaof();
  await until(isOk, { timeoutMs: REWRITE_MS, what: "Redis' append-only file to be rewritten" });
}

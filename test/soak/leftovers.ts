import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { removeAbandonedBuilds } from "../../src/components/builder/with-built.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { StoredEvents } from "../../src/models/event.ts";
import { SourceMemories, Sources } from "../../src/models/source.ts";
import { Subscriptions } from "../../src/models/subscription.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import { openHostFolder } from "../../src/sandbox/workspace.ts";
import { type Row, rowOf } from "./compare.ts";
import type { Installation } from "./installation.ts";
import { processesWith } from "./processes.ts";
import type { Stage } from "./stage.ts";

/** What remains in the stores of what was deleted. Keys that expire do not count. */
export async function leftInStores({ installation, model }: Stage): Promise<Row[]> {
  const { mongo, redis } = installation.platform;
  const ids = model.deleted.map(({ id }) => id);
  const keys: string[] = [];
  if ("keys" in redis) {
    for (const id of ids) {
      for (const key of await redis.keys(`*${id}*`)) {
        if ((await redis.ttl(key)) !== -1) continue;
        const content = (await redis.type(key)) === "hash" ? JSON.stringify(await redis.hgetall(key)) : "";
        keys.push(`${key} ${content.slice(0, 200)}`);
      }
    }
  }
  const found = {
    subscription: await Subscriptions(mongo)
      .find({ $or: [{ emitter_id: { $in: ids } }, { listener_id: { $in: ids } }] }, { _id: 1 })
      .lean(),
    memory: await SourceMemories(mongo)
      .find({ _id: { $in: ids } }, { _id: 1 })
      .lean(),
    source: await Sources(mongo)
      .find({ _id: { $in: ids } }, { _id: 1 })
      .lean(),
    webhook: await Webhooks(mongo)
      .find({ _id: { $in: ids } }, { _id: 1 })
      .lean(),
    delivery: await Deliveries(mongo)
      .find({ webhook_id: { $in: ids }, state: "pending" }, { _id: 1 })
      .lean(),
    event: await StoredEvents(mongo)
      .find({ emitter_id: { $in: ids }, has_webhook_listeners: false }, { _id: 1 })
      .lean(),
  };
  const rows = Object.entries(found).flatMap(([kind, list]) => list.map(({ _id }) => `${kind} ${_id}`));
  return [rowOf("Redis keys of deleted things", keys), rowOf("rows of deleted things", rows)];
}

const GRACE_MS = 3000;

/** Stops all processes in order, and returns what remains of them. */
export async function leftByProcesses(installation: Installation): Promise<Row[]> {
  const { processes, folder, firstUserId } = installation;
  const endings = await Promise.all(processes.map(async one => ({ one, how: await one.end("SIGTERM") })));
  const unclean = endings
    .filter(({ how }) => how !== 0)
    .map(({ one, how }) => `${one.name} ended with ${how}`);
  await new Promise(resolve => setTimeout(resolve, GRACE_MS));
  const temporary = [
    ...new Set([join(folder, "sandboxes"), ...processes.map(({ name }) => join(folder, name))]),
  ];
  // As the next start and its first build do: folders of processes that were killed, and children of such hosts.
  const own = process.env.TMPDIR;
  for (const path of temporary) {
    process.env.TMPDIR = path;
    await openHostFolder().then(
      opened => opened.close(),
      () => undefined,
    );
    await removeAbandonedBuilds();
  }
  if (own === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = own;
  await new Promise(resolve => setTimeout(resolve, GRACE_MS / 10));
  return [
    rowOf("processes that did not stop in order", unclean),
    rowOf(
      "processes that ended by themselves",
      processes.flatMap(({ unexpected }) =>
        unexpected.map(({ name, how, logFile }) => `${name}: ${how} (${logFile})`),
      ),
    ),
    rowOf("processes left", processesWith("headwater-sandbox-", folder).map(String)),
    rowOf("folders and files left", temporary.flatMap(filesIn)),
    rowOf("user ids in use", userIdsInUse(firstUserId)),
  ];
}

function filesIn(path: string): string[] {
  try {
    return readdirSync(path).map(name => join(path, name));
  } catch {
    return [];
  }
}

/** Claims of blocks of ids, and processes that run under one of them. */
function userIdsInUse(firstUserId: number): string[] {
  const lastUserId = firstUserId + 64_000;
  const isOurs = (id: number) => id >= firstUserId && id < lastUserId;
  const claims = [...readFileSync("/proc/net/unix", "utf8").matchAll(/@headwater-sandbox-ids-(\d+)/g)]
    .map(match => Number(match[1]))
    .filter(isOurs);
  const pids = readdirSync("/proc").filter(name => /^\d+$/.test(name));
  const running = pids.filter(pid => isOurs(userIdOf(pid)));
  return [...claims.map(id => `block ${id} is claimed`), ...running.map(pid => `process ${pid}`)];
}

function userIdOf(pid: string): number {
  try {
    return Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return -1;
  }
}

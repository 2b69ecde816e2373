import { checkMongo, ensurePrimary, mongoKind } from "./mongo.mjs";
import { mongodProgram } from "./mongod.mjs";
import { checkRedis, redisKind, redisProgram } from "./redis.mjs";
import { startOrAdopt } from "./store-server.mjs";

/**
 * Both stores, ready for writes: the configured ones (checked), else servers of our own in `folder` (absolute).
 *
 * Takes `{root, folder, mongodbUrl?, redisUrl?, firstPorts: {mongo, redis}, database, hold, say, signal}`; `hold`
 * receives the handle of every server that must be stopped again, see store-server.mjs. Gives `{mongodbUrl,
 * redisUrl}`. Throws Complaint.
 */
export async function openStores(given) {
  // Programs and addresses first: nothing is started when one of the two can't be had.
  const [mongo, redis] = await both(prepareMongo(given), prepareRedis(given));
  const [mongodbUrl, redisUrl] = await both(startMongo(mongo, given), startRedis(redis, given));
  return { mongodbUrl, redisUrl };
}

/** Like Promise.all, but leaves nothing half done in the background when one fails. */
async function both(...promises) {
  const outcomes = await Promise.allSettled(promises);
  const failed = outcomes.find(outcome => outcome.status === "rejected");
  if (failed) throw failed.reason;
  return outcomes.map(outcome => outcome.value);
}

async function prepareMongo({ root, mongodbUrl, firstPorts, say, signal }) {
  if (mongodbUrl) return checkMongo(mongodbUrl, root);
  return mongoKind({
    program: await mongodProgram({ root, say, signal }),
    firstPort: firstPorts.mongo,
    root,
  });
}

async function prepareRedis({ root, redisUrl, firstPorts, say, signal }) {
  if (redisUrl) return checkRedis(redisUrl, root);
  return redisKind({ program: await redisProgram({ root, say, signal }), firstPort: firstPorts.redis });
}

async function startMongo(kind, { root, folder, mongodbUrl, database, hold, signal }) {
  if (!kind) return mongodbUrl;
  const { port } = await startOrAdopt(kind, { folder, hold, signal });
  await ensurePrimary(port, root, signal);
  return `mongodb://127.0.0.1:${port}/${database}?replicaSet=rs0`;
}

async function startRedis(kind, { folder, redisUrl, hold, signal }) {
  if (!kind) return redisUrl;
  const { port } = await startOrAdopt(kind, { folder, hold, signal });
  return `redis://127.0.0.1:${port}`;
}

/** Stops store servers at the same time, within the time. */
export async function closeStores(handles, graceMs) {
  await Promise.all(handles.map(handle => handle.stop(graceMs)));
}

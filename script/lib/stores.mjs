import { relative } from "node:path";
import { checkMongo, ensurePrimary, mongoKind } from "./mongo.mjs";
import { mongodProgram } from "./mongod.mjs";
import { checkRedis, redisKind, redisProgram } from "./redis.mjs";
import { startOrAdopt } from "./store-server.mjs";

/**
 * Programs only, and no containers: deploy/compose.yaml is the way with an engine, and an engine's stores would be a second way to start,
 * adopt, find and end each of them, that no test could take without a registry of images.
 */

/**
 * Returns both stores, ready for writes, as `{mongodbUrl, redisUrl}`: the configured ones after a check, else servers
 * that it starts with their data in `folder` (an absolute path).
 *
 * Takes `{root, downloads?, folder, mongodbUrl?, redisUrl?, firstPorts: {mongo, redis}, database, hold, say, signal}`. What is
 * downloaded is kept in .cache/ of `downloads`, by default `root`. `hold` is called with the handle of every server that must be
 * stopped again, see store-server.mjs. Throws UserError.
 */
export async function openStores(options) {
  const given = { ...options, downloads: options.downloads ?? options.root };
  // Programs and addresses first: nothing is started if one of the two stores is not available.
  const [mongo, redis] = await both(prepareMongo(given), prepareRedis(given));
  given.say(
    `MongoDB: ${originOf(mongo, "MONGODB_URL", given)}. Redis: ${originOf(redis, "REDIS_URL", given)}.`,
  );
  const [mongodbUrl, redisUrl] = await both(startMongo(mongo, given), startRedis(redis, given));
  return { mongodbUrl, redisUrl };
}

/** Says which store it is and why: the one that a setting names, else one that is started from a program. */
function originOf(kind, setting, { downloads }) {
  if (!kind) return `as ${setting} says`;
  const path = relative(downloads, kind.program);
  return path.startsWith("..") ? `${kind.program}, found on the PATH` : `${path}, since the PATH has none`;
}

/** Like Promise.all, but waits for all promises before it throws, so that nothing goes on in the background. */
async function both(...promises) {
  const outcomes = await Promise.allSettled(promises);
  const failed = outcomes.find(outcome => outcome.status === "rejected");
  if (failed) throw failed.reason;
  return outcomes.map(outcome => outcome.value);
}

async function prepareMongo({ root, downloads, mongodbUrl, firstPorts, say, signal }) {
  if (mongodbUrl) return checkMongo(mongodbUrl, root);
  return mongoKind({
    program: await mongodProgram({ root: downloads, say, signal }),
    firstPort: firstPorts.mongo,
    root,
  });
}

async function prepareRedis({ root, downloads, redisUrl, firstPorts, say, signal }) {
  if (redisUrl) return checkRedis(redisUrl, root);
  const program = await redisProgram({ root: downloads, say, signal });
  return redisKind({ program, firstPort: firstPorts.redis });
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

/** Stops store servers in parallel; kills those that have not ended after `graceMs`. */
export async function closeStores(handles, graceMs) {
  await Promise.all(handles.map(handle => handle.stop(graceMs)));
}

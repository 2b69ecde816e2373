import type { Redis } from "ioredis";
import type { SealedFields } from "../../src/models/sealed-fields.ts";
import type { Platform } from "../../src/platform.ts";

/** A text that `SECRETS_KEY` encrypted, wherever it was found. */
export interface SealedText {
  /** `collection.field` with `[]` for a list, or `redis:` and what kind of key. */
  place: string;
  text: string;
}

/** Returns the places of fields, as `findSealedTexts` names them. */
export const placesOf = (sealed: readonly SealedFields[]): string[] =>
  sealed.flatMap(({ name, fields, lists }) => [
    ...fields.map(field => `${name}.${field}`),
    ...lists.map(({ list, field }) => `${name}.${list}[].${field}`),
  ]);

const SEALED = /v1\.[\w-]{8}\.[\w-]{38,}/g;

function* textsIn(value: unknown, path: string): Generator<SealedText> {
  if (typeof value === "string") {
    for (const [text] of value.matchAll(SEALED)) yield { place: path, text };
  } else if (Array.isArray(value)) {
    for (const item of value) yield* textsIn(item, `${path}[]`);
  } else if (typeof value === "object" && value !== null && !("_bsontype" in value)) {
    for (const [key, inner] of Object.entries(value)) yield* textsIn(inner, `${path}.${key}`);
  }
}

/** Returns every sealed text in a test's database and Redis, whatever wrote it there. */
export async function findSealedTexts({
  mongo,
  redis,
  config,
}: Pick<Platform, "mongo" | "redis" | "config">): Promise<SealedText[]> {
  const found: SealedText[] = [];
  for (const { name } of (await mongo.db?.listCollections().toArray()) ?? []) {
    for await (const row of mongo.collection(name).find()) found.push(...textsIn(row, name));
  }
  for (const pattern of [`${config.redisPrefix}:*`, `{${config.redisPrefix}:*`]) {
    for await (const keys of (redis as Redis).scanStream({ match: pattern, count: 500 })) {
      for (const key of keys as string[])
        found.push(...textsIn(await readKey(redis as Redis, key), kindOf(key)));
    }
  }
  return found;
}

/** Returns `redis:` and the key without its prefix, ids and hashes. */
const kindOf = (key: string) =>
  `redis:${key.replace(/^\{?[^:]+:/, "").replace(/\{[^}]*\}:?|:?[0-9a-f]{64}|:?[\w-]{43}/g, "")}`;

async function readKey(redis: Redis, key: string): Promise<unknown> {
  const type = await redis.type(key);
  if (type === "string") return await redis.get(key);
  if (type === "hash") return Object.values(await redis.hgetall(key));
  if (type === "list") return await redis.lrange(key, 0, -1);
  if (type === "zset") return await redis.zrange(key, "0", "-1");
  return type === "set" ? await redis.smembers(key) : null;
}

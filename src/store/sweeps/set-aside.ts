import type { Logger } from "pino";
import { LIMITS } from "../../limits/catalogue.ts";
import type { RedisClient } from "../connections/redis.ts";
import type { RedisKeys } from "../keys.ts";
import { script } from "../lua.ts";

interface Deps {
  redis: RedisClient;
  keys: RedisKeys;
  clock: () => number;
  log: Logger;
}

/** An item that a step of the reconciler could not repair: it is tried again ever less often, and holds up no other. */
export interface SetAsideItem {
  /** Name of the step. */
  step: string;
  /** Id of the item: of a run, a delivery, an event, a source. */
  item: string;
  /** Class and beginning of the message of its last error. */
  error: string;
  /** How often it has failed. */
  count: number;
  /** Unix milliseconds. */
  first_at_ms: number;
  last_at_ms: number;
  retry_at_ms: number;
}

const store = script<number>("set-aside");

/** When an item is tried again after its first failure; each failure doubles it. Milliseconds. */
const FIRST_RETRY_MS = 60_000;
const MAX_RETRY_MS = 3_600_000;
/** An item that no step meets any more, because it was deleted, is removed so long after it was due. */
const KEPT_MS = 86_400_000;
const MAX_ITEMS = LIMITS.setAsideItems.value;
const ERROR_CHARACTERS = 200;

const fieldOf = (step: string, item: string): string => `${step} ${item}`;

/** Sets an item aside after an error; logs it the first time. Throws `unavailable`. */
export async function setAside(platform: Deps, step: string, item: string, error: unknown): Promise<void> {
  const count = await store(
    platform.redis,
    [platform.keys.setAsideItems(), platform.keys.setAsideExpiries()],
    [
      fieldOf(step, item),
      platform.clock(),
      describeError(error),
      FIRST_RETRY_MS,
      MAX_RETRY_MS,
      KEPT_MS,
      MAX_ITEMS,
    ],
  );
  const isNews = count <= 1;
  platform.log[isNews ? "error" : "debug"]({ step, item, failures: count, err: error }, "set aside");
}

/** Class and beginning of the message of an error; that of a SyntaxError holds a part of the data, which may be a secret. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return "not an Error";
  if (error instanceof SyntaxError) return `${error.name}: not JSON`;
  return `${error.name}: ${error.message}`.slice(0, ERROR_CHARACTERS);
}

/** Returns those of the items that are set aside, by item, whether they are due again or not. Throws `unavailable`. */
export async function readSetAside(
  platform: Pick<Deps, "redis" | "keys">,
  step: string,
  items: string[],
): Promise<Map<string, SetAsideItem>> {
  if (items.length === 0) return new Map();
  const fields = items.map(item => fieldOf(step, item));
  const texts = await platform.redis.hmget(platform.keys.setAsideItems(), ...fields);
  const found = fields.flatMap((field, i) => (texts[i] ? [parse(field, texts[i])] : []));
  return new Map(found.map(item => [item.item, item]));
}

/** Removes items that are repaired. Throws `unavailable`. */
export async function removeSetAside(
  platform: Pick<Deps, "redis" | "keys">,
  step: string,
  items: string[],
): Promise<void> {
  if (items.length === 0) return;
  const fields = items.map(item => fieldOf(step, item));
  await platform.redis.hdel(platform.keys.setAsideItems(), ...fields);
  await platform.redis.zrem(platform.keys.setAsideExpiries(), ...fields);
}

/** Returns everything that is set aside, the item that failed last first; the bound is `setAsideItems`. */
export async function listSetAside(platform: Pick<Deps, "redis" | "keys">): Promise<SetAsideItem[]> {
  const all = await platform.redis.hgetall(platform.keys.setAsideItems());
  return Object.entries(all)
    .map(([field, text]) => parse(field, text))
    .sort((a, b) => b.last_at_ms - a.last_at_ms);
}

function parse(field: string, text: string): SetAsideItem {
  const space = field.indexOf(" ");
  const stored = JSON.parse(text) as Omit<SetAsideItem, "step" | "item">;
  return { step: field.slice(0, space), item: field.slice(space + 1), ...stored };
}

import type { Connection } from "mongoose";
import { AppError } from "../../lib/errors.ts";
import { probeMongo } from "../connections/mongo-setup.ts";
import { readSetAside, removeSetAside, setAside } from "./set-aside.ts";

type Deps = Parameters<typeof setAside>[0] & { mongo: Connection };

/** Items repaired at a time: each is a few round trips to the stores. */
const AT_ONCE = 8;

interface Repair<T> {
  /** Name of the step, under which a bad item is set aside. */
  step: string;
  idOf: (item: T) => string;
}

/**
 * Repairs items one by one, some at a time; returns how many `repair` says it repaired. An item whose repair fails is set
 * aside and left out until it is due again, and the others go on. Throws `unavailable` if a store is away.
 */
export async function repairEach<T>(
  platform: Deps,
  items: T[],
  { step, idOf, repair }: Repair<T> & { repair: (item: T) => Promise<boolean> },
): Promise<number> {
  const known = await readSetAside(platform, step, items.map(idOf));
  const due = items.filter(item => (known.get(idOf(item))?.retry_at_ms ?? 0) <= platform.clock());
  let repaired = 0;
  const good: string[] = [];
  const repairOne = async (item: T) => {
    try {
      if (await repairOrAgain(platform, item, repair)) repaired += 1;
      if (known.has(idOf(item))) good.push(idOf(item));
    } catch (error) {
      await setAsideUnlessAway(platform, step, idOf(item), error);
    }
  };
  for (let at = 0; at < due.length; at += AT_ONCE) {
    await Promise.all(due.slice(at, at + AT_ONCE).map(repairOne));
  }
  await removeSetAside(platform, step, good);
  return repaired;
}

/**
 * As `repairEach`, for repairs that are cheaper together: `repair` handles many items at once, and one by one only if it
 * fails. It must be safe to repeat.
 */
export async function repairAll<T>(
  platform: Deps,
  items: T[],
  { step, idOf, repair }: Repair<T> & { repair: (items: T[]) => Promise<number> },
): Promise<number> {
  const known = await readSetAside(platform, step, items.map(idOf));
  // Those that failed before are tried alone.
  const [bad, good] = [
    items.filter(item => known.has(idOf(item))),
    items.filter(item => !known.has(idOf(item))),
  ];
  const alone = async (item: T) => (await repair([item])) > 0;
  let repaired = await repairEach(platform, bad, { step, idOf, repair: alone });
  try {
    if (good.length > 0) repaired += await repair(good);
  } catch (error) {
    if (await isAway(platform, error)) throw error;
    repaired += await repairEach(platform, good, { step, idOf, repair: alone });
  }
  return repaired;
}

/** Repairs an item, and once more if a store was away that is there again: the item is not to blame for that. */
async function repairOrAgain<T>(
  platform: Deps,
  item: T,
  repair: (item: T) => Promise<boolean>,
): Promise<boolean> {
  try {
    return await repair(item);
  } catch (error) {
    if (!isUnavailable(error) || (await isAway(platform, error))) throw error;
    return await repair(item);
  }
}

async function setAsideUnlessAway(platform: Deps, step: string, item: string, error: unknown): Promise<void> {
  if (await isAway(platform, error)) throw error;
  // A write to Redis: it throws `unavailable` if Redis takes none.
  await setAside(platform, step, item, error);
}

/** `unavailable` may also be an item's own error in disguise: only a store that takes no writes ends a step. */
async function isAway({ mongo }: Deps, error: unknown): Promise<boolean> {
  if (!isUnavailable(error)) return false;
  return await probeMongo(mongo).then(
    () => false,
    () => true,
  );
}

const isUnavailable = (error: unknown): boolean => error instanceof AppError && error.code === "unavailable";

import { SEALED_FIELDS } from "../../models/sealed-fields.ts";
import type { Platform } from "../../platform.ts";
import { sealedKeys } from "./reseal-keys.ts";
import { withoutBeginnings } from "./sealed-with.ts";

export type SealedDeps = Pick<Platform, "mongo" | "redis" | "keys" | "secrets">;

/** How much of one place is under another key than the first. */
export interface SealedCount {
  place: string;
  /** Under another key of `SECRETS_KEY`. */
  due: number;
  /** Under a key that it does not contain. */
  unreadable: number;
}

/** Counts what is not encrypted with the first key of `SECRETS_KEY`, place by place, and changes nothing. */
export async function countSealed(deps: SealedDeps): Promise<SealedCount[]> {
  const { mongo, secrets } = deps;
  const counts: SealedCount[] = [];
  for (const sealed of SEALED_FIELDS) {
    const count = (beginnings: readonly string[]) =>
      sealed.rowsIn(mongo).countDocuments(withoutBeginnings(sealed, beginnings) as never);
    const all = await count([secrets.beginnings[0]]);
    const unreadable = all === 0 ? 0 : await count(secrets.beginnings);
    counts.push({ place: sealed.name, due: all - unreadable, unreadable });
  }
  const redis = { place: "Redis", due: 0, unreadable: 0 };
  for await (const { sealed } of sealedKeys(deps, [secrets.beginnings[0]])) {
    const isReadable = secrets.beginnings.some(text => sealed.startsWith(text));
    redis[isReadable ? "due" : "unreadable"] += 1;
  }
  return [...counts, redis];
}

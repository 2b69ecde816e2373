import type { Headwater } from "../../../clients/typescript/src/index.ts";
import { firstRows } from "./row-limit.ts";

/** So many things of a kind are known by their names; others keep their ids. */
const MOST = 1000;

/** Returns the names of the account's things by their ids: sources by the slug that commands take, as all others by their name. */
export async function firstNames(client: Headwater): Promise<Map<string, string>> {
  const [sources, ...others] = await Promise.all([
    firstRows(client.sources.list(), MOST),
    firstRows(client.workflows.list(), MOST),
    firstRows(client.webhooks.list(), MOST),
    firstRows(client.destinations.list(), MOST),
  ]);
  const named = others.flatMap(({ rows }): { id: string; name: string | null }[] => rows);
  return new Map([
    ...sources.rows.map(({ id, name_slug }) => [id, name_slug] as const),
    ...named.flatMap(({ id, name }) => (name === null ? [] : [[id, name] as const])),
  ]);
}

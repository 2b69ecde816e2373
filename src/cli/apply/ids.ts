import { AppError } from "../../lib/errors.ts";
import { EMITTERS, NAMED, type Named } from "./schema.ts";
import { fullName, type State } from "./state.ts";

/** The ids of the project's things, by their part of the file and their name; what is made is added. */
export type Ids = Record<Named | "connections", Map<string, string>>;

/** Returns the ids of what the account has of a project. */
export const idsOf = (state: State): Ids => {
  const ids = (found: Map<string, { id: string }>) => new Map([...found].map(([name, { id }]) => [name, id]));
  return {
    connections: ids(state.connections),
    webhooks: ids(state.webhooks),
    destinations: ids(state.destinations),
    actions: ids(state.actions),
    sources: ids(state.sources),
    workflows: ids(state.workflows),
  };
};

/** Returns the id of what a subscription is from: a name of the file, or an id already. */
export const emitterId = (from: string, ids: Ids): string => idIn(EMITTERS, from, ids);

/** Returns the id of what a subscription goes to. */
export const listenerId = (to: string, ids: Ids): string => idIn(NAMED, to, ids);

const idIn = (parts: readonly Named[], end: string, ids: Ids): string =>
  parts.map(part => ids[part].get(end)).find(id => id !== undefined) ?? end;

/** Returns an end of a subscription as the server knows it. Throws AppError `conflict` for a name without an id. */
export function madeId(end: string): string {
  if (/^(dc|p|wh|ds|ac|o|u)_/.test(end)) return end;
  throw new AppError("conflict", `${end} was not made`);
}

/** Returns the names of the project's things that are in its file, by id. */
export const namesById = (
  state: State,
  declaration: { project: string } & Partial<Record<Named, object>>,
): Map<string, string> =>
  new Map(
    NAMED.flatMap(part =>
      [...state[part]]
        .filter(([name]) => Object.hasOwn(declaration[part] ?? {}, name))
        .map(([name, { id }]) => [id, fullName(declaration.project, name)] as const),
    ),
  );

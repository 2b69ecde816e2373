import type { Headwater } from "../../../clients/typescript/src/index.ts";
import type { Change } from "./change.ts";
import { emitterId, type Ids, listenerId, namesById } from "./ids.ts";
import { type Declaration, type DeclaredSubscription, NAMED, type Named } from "./schema.ts";
import { fullName, type State } from "./state.ts";

/**
 * Returns the deletions of what the project has on the server and not in its file: sources, workflows, what has deliveries, and
 * subscriptions between two things of the project that both stay. Others were not made by `apply`.
 */
export function planDeletions(client: Headwater, declaration: Declaration, state: State, ids: Ids): Change[] {
  const left = (
    part: Named | "connections",
    kind: Change["kind"],
    remove: (id: string) => Promise<unknown>,
  ) =>
    [...state[part]]
      .filter(([name]) => !Object.hasOwn(declaration[part] ?? {}, name))
      .map(([name, { id }]) => deletion(kind, fullName(declaration.project, name), () => remove(id)));
  // A subscription ends with either of its ends.
  const staying = namesById(state, declaration);
  const isDeclared = (one: State["subscriptions"][number]) =>
    (declaration.subscriptions ?? []).some(wanted => isSame(wanted, one, ids));
  return [
    ...state.subscriptions
      .filter(one => staying.has(one.emitter_id) && staying.has(one.listener_id) && !isDeclared(one))
      .map(({ id, emitter_id, listener_id }) =>
        deletion("subscription", `${staying.get(emitter_id)} → ${staying.get(listener_id)}`, () =>
          client.subscriptions.delete(id),
        ),
      ),
    ...left("sources", "source", id => client.sources.delete(id)),
    ...left("workflows", "workflow", id => client.workflows.delete(id)),
    ...left("webhooks", "webhook", id => client.webhooks.delete(id)),
    ...left("destinations", "destination", id => client.destinations.delete(id)),
    ...left("actions", "action", id => client.destinations.delete(id)),
    // The last: what uses one must be gone.
    ...left("connections", "connection", id => client.connections.delete(id)),
  ];
}

/** Returns the subscriptions of what the project has on the server and not in its file, as of a thing that was renamed in it. */
export function subscriptionsOfLeft(declaration: Declaration, state: State): string[] {
  const everything = new Map(
    NAMED.flatMap(part =>
      [...state[part]].map(([name, { id }]) => [id, fullName(declaration.project, name)] as const),
    ),
  );
  const staying = namesById(state, declaration);
  const isLeft = (id: string) => everything.has(id) && !staying.has(id);
  const nameOf = (id: string) => everything.get(id) ?? id;
  return state.subscriptions
    .filter(({ emitter_id, listener_id }) => isLeft(emitter_id) || isLeft(listener_id))
    .map(({ emitter_id, listener_id }) => `${nameOf(emitter_id)} → ${nameOf(listener_id)}`);
}

const deletion = (kind: Change["kind"], name: string, remove: () => Promise<unknown>): Change => ({
  action: "delete",
  kind,
  name,
  fields: [],
  apply: async () => void (await remove()),
});

const isSame = (
  { from, to, channel = "" }: DeclaredSubscription,
  one: State["subscriptions"][number],
  ids: Ids,
): boolean =>
  emitterId(from, ids) === one.emitter_id &&
  listenerId(to, ids) === one.listener_id &&
  channel === one.event_name;

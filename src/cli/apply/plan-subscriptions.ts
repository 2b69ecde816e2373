import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { type Change, fieldChanges, type Ids } from "./change.ts";
import type { Declared } from "./read-file.ts";
import type { DeclaredSubscription } from "./schema.ts";
import { fullName, type State } from "./state.ts";

/** Returns the name of an end of a subscription, as a person finds it. */
const nameOf = (project: string, ids: Ids, end: string, declares: boolean): string =>
  declares || ids.sources.has(end) || ids.webhooks.has(end) ? fullName(project, end) : end;

/** Returns what is to be done to the subscriptions of a file. */
export function planSubscriptions(
  client: Headwater,
  { raw, resolved }: Declared,
  state: State,
  ids: Ids,
): Change[] {
  const { project, sources = {}, webhooks = {} } = resolved;
  const declares = (end: string) => Object.hasOwn(sources, end) || Object.hasOwn(webhooks, end);
  return (resolved.subscriptions ?? []).flatMap((wanted, at): Change[] => {
    const shown = raw.subscriptions?.[at] ?? wanted;
    const [from, to] = [wanted.from, wanted.to].map(end => nameOf(project, ids, end, declares(end)));
    const channel = wanted.channel ? ` [${wanted.channel}]` : "";
    const name = `${from} → ${to}${channel}`;
    const current = findCurrent(wanted, state, ids);
    const filter = {
      field: "filter",
      current: filterOf(current),
      wanted: filterOf(wanted),
      raw: shown.filter,
    };
    const fields = fieldChanges([filter]);
    if (current && fields.length === 0) return [];
    const apply: Change["apply"] = async made => {
      await client.subscriptions.create({
        emitter_id: idOf(wanted.from, made.sources),
        listener_id: listenerId(wanted.to, made),
        event_name: wanted.channel ?? "",
        // Left out, it would stay; an empty one matches everything.
        filter: wanted.filter ?? {},
      });
    };
    return [{ action: current ? "update" : "create", kind: "subscription", name, fields, apply }];
  });
}

/** One without conditions is none. */
function filterOf(of: { filter?: unknown } | undefined): unknown {
  const filter = of?.filter;
  return filter && Object.keys(filter).length > 0 ? filter : undefined;
}

function findCurrent(
  { from, to, channel = "" }: DeclaredSubscription,
  { subscriptions }: State,
  ids: Ids,
): Schemas["Subscription"] | undefined {
  const [emitter, listener] = [
    ids.sources.get(from) ?? from,
    ids.webhooks.get(to) ?? ids.sources.get(to) ?? to,
  ];
  return subscriptions.find(
    one => one.emitter_id === emitter && one.listener_id === listener && one.event_name === channel,
  );
}

const listenerId = (to: string, { webhooks, sources }: Ids): string => webhooks.get(to) ?? idOf(to, sources);

function idOf(end: string, ids: Map<string, string>): string {
  const id = ids.get(end) ?? end;
  if (/^(dc|p|wh|o|u)_/.test(id)) return id;
  throw new AppError("conflict", `${end} was not made`);
}

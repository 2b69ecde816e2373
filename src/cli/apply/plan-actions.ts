import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { type Change, fieldChanges } from "./change.ts";
import { type CurrentProps, changedProps, compareProps } from "./compare-props.ts";
import {
  type ComponentTools,
  componentField,
  findComponent,
  isSameComponent,
  propFields,
  savedComponent,
  type WantedComponent,
} from "./component.ts";
import { changedDelivery, compareDelivery, newDelivery } from "./delivery-fields.ts";
import type { Declared } from "./read-file.ts";
import type { DeclaredAction } from "./schema.ts";
import { fullName, type State } from "./state.ts";

/** Returns what is to be done to the actions of a file. */
export async function planActions(
  { raw, resolved }: Declared,
  state: State,
  tools: ComponentTools,
): Promise<Change[]> {
  const changes: Change[] = [];
  // One after the other: each may read files and ask the server.
  for (const [key, action] of Object.entries(resolved.actions ?? {})) {
    const component = await tools.wantedOf(`actions.${key}`, action);
    const shown = raw.actions?.[key] ?? action;
    const name = fullName(resolved.project, key);
    const current = state.actions.get(key);
    const change = current
      ? await planUpdate({ name, action, shown, component }, current, tools)
      : planCreation({ name, action, shown, component }, key, tools);
    if (change) changes.push(change);
  }
  return changes;
}

interface Wanted {
  name: string;
  action: DeclaredAction;
  /** As the file has it. */
  shown: DeclaredAction;
  component: WantedComponent;
}

function planCreation(
  { name, action, shown, component }: Wanted,
  key: string,
  tools: ComponentTools,
): Change {
  const { client } = tools;
  const fields = [
    componentField(shown),
    ...propFields(shown),
    ...fieldChanges(compareDelivery(action, shown)),
  ];
  const apply: Change["apply"] = async ids => {
    const { id: component_id } = await savedComponent(component, tools);
    const settings = { component_id, configured_props: action.props ?? {} };
    const { id } = await client.destinations.create({ name, ...newDelivery(action), action: settings });
    ids.actions.set(key, id);
    if (action.active === false) await client.destinations.update(id, { active: false });
  };
  return { action: "create", kind: "action", name, fields, apply };
}

async function planUpdate(
  { name, action, shown, component }: Wanted,
  current: Schemas["Destination"],
  tools: ComponentTools,
): Promise<Change | null> {
  const { client } = tools;
  const { component_id, ...present } = current.action as CurrentProps & { component_id: string };
  const known = await findComponent(client, component_id);
  const isSame = isSameComponent(component, component_id, known);
  const given = { wanted: action.props ?? {}, raw: shown.props ?? {} };
  const props = compareProps(given, present, known, tools.sendsSecrets);
  const fields = [
    ...(isSame ? [] : [componentField(shown)]),
    ...props.changes,
    ...fieldChanges(compareDelivery(action, shown, current)),
  ];
  if (fields.length === 0) return null;
  const apply = async () => {
    const next = isSame ? known : await savedComponent(component, tools);
    const settings = {
      ...(!isSame && next && { component_id: next.id }),
      configured_props: changedProps(given.wanted, props.left, next),
    };
    await client.destinations.update(current.id, { ...changedDelivery(action), action: settings });
  };
  return { action: "update", kind: "action", name, fields, apply };
}

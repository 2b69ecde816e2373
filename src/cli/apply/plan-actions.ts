import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { type Change, fieldChanges } from "./change.ts";
import {
  type CurrentProps,
  changedProps,
  compareProps,
  givenSecrets,
  withMadeProps,
} from "./compare-props.ts";
import {
  type ComponentTools,
  componentField,
  findComponent,
  isSameComponent,
  propFields,
  savedComponent,
} from "./component.ts";
import { madeConnectionIds } from "./connection-ids.ts";
import { changedDelivery, compareDelivery, newDelivery } from "./delivery-fields.ts";
import { planComponents, type Wanted } from "./plan-components.ts";
import type { Declared } from "./read-file.ts";
import type { DeclaredAction } from "./schema.ts";
import type { State } from "./state.ts";

/** Returns what is to be done to the actions of a file. */
export const planActions = (declared: Declared, state: State, tools: ComponentTools): Promise<Change[]> =>
  planComponents(declared, "actions", state.actions, { create: planCreation, update: planUpdate }, tools);

function planCreation(
  { key, name, declared, shown, component }: Wanted<DeclaredAction>,
  tools: ComponentTools,
): Change {
  const { client } = tools;
  const fields = [
    componentField(shown),
    ...propFields(shown),
    ...fieldChanges(compareDelivery(declared, shown)),
  ];
  const apply: Change["apply"] = async ids => {
    const { naming } = await savedComponent(component, tools);
    const settings = {
      ...naming,
      configured_props: madeConnectionIds(declared.props ?? {}, ids.connections),
    };
    const { id } = await client.destinations.create({ name, ...newDelivery(declared), action: settings });
    ids.actions.set(key, id);
    if (declared.active === false) await client.destinations.update(id, { active: false });
  };
  return { action: "create", kind: "action", name, fields, apply };
}

async function planUpdate(
  { name, declared, shown, component }: Wanted<DeclaredAction>,
  current: Schemas["Destination"],
  tools: ComponentTools,
): Promise<Change | null> {
  const { client } = tools;
  const { component_id, ...present } = current.action as CurrentProps & { component_id: string };
  const before = await findComponent(client, component_id);
  const isSame = isSameComponent(component, component_id, before);
  const known = withMadeProps(before, present);
  const given = { wanted: declared.props ?? {}, raw: shown.props ?? {} };
  const differing = await tools.differing(current.id, givenSecrets(given.wanted, present));
  const props = compareProps(given, present, known, differing);
  const fields = [
    ...(isSame ? [] : [componentField(shown)]),
    ...props.changes,
    ...fieldChanges(compareDelivery(declared, shown, current)),
  ];
  if (fields.length === 0) return null;
  const apply: Change["apply"] = async ids => {
    const wanted = madeConnectionIds(given.wanted, ids.connections);
    const next = isSame ? null : await savedComponent(component, tools);
    const settings = {
      ...next?.naming,
      configured_props: changedProps(wanted, props.left, next?.saved ?? known),
    };
    await client.destinations.update(current.id, { ...changedDelivery(declared), action: settings });
  };
  return { action: "update", kind: "action", name, fields, apply };
}

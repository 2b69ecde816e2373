import { chooseDynamicProps } from "../../components/configure/dynamic-props.ts";
import { type ComponentInput, isReplaced, namesComponent, resolveComponent } from "../../components/save.ts";
import { checkConnections } from "../../connections/check.ts";
import { AppError } from "../../lib/errors.ts";
import type { Component } from "../../models/component.ts";
import type { Calling } from "../../platform.ts";
import { configureActionProps } from "../../props/action-props.ts";
import {
  connectedProps,
  keptValues,
  presentProps,
  type StoredProps,
  secretsRemoved,
} from "../../props/configure.ts";
import { withAddedProps } from "../../props/dynamic-props.ts";
import type { DescribedProp } from "../../sandbox/protocol.ts";
import type { CheckFor } from "../kind.ts";
import { type ActionSettings, findComponent } from "./settings.ts";

/** The settings of an action in a request. */
export interface ActionInput extends ComponentInput {
  configured_props?: Record<string, unknown>;
  dynamic_props_id?: string;
}

/**
 * Checks the settings of a new action, or the change of one: finds or saves its component, and checks its props
 * (docs/actions.md). Throws `invalid`, with paths below the field of the settings, and `not-found`.
 */
export async function configureAction(
  platform: Calling,
  input: ActionInput,
  { deployer, path, before }: CheckFor<ActionSettings>,
) {
  return await withPath(path, async () => {
    const current = before && (await findComponent(platform, before.component_id));
    const component =
      current && !namesComponent(input)
        ? current
        : await resolveComponent(platform, deployer, input, "action");
    const own = component.description.props;
    const configured = input.configured_props ?? {};
    const old = before &&
      current && {
        values: before.configured_props,
        props: propsBefore(before, current),
        isReplaced: isReplaced(input, component, current),
      };
    const keepsComponent = current?._id === component._id;
    const dynamic = await chooseDynamicProps(platform, deployer.owner, component, {
      id: input.dynamic_props_id,
      configured,
      stored: old && (keepsComponent ? old.values : keptValues(old, own)),
      current: (keepsComponent && before?.dynamic) || null,
    });
    const props = dynamic ? withAddedProps(own, dynamic.props) : own;
    const previous = old && keptValues(old, props);
    const values = configureActionProps(props, configured, previous);
    const given = Object.fromEntries(
      Object.entries(values).filter(([name]) => Object.hasOwn(configured, name)),
    );
    await checkConnections(platform, deployer.owner, props, given);
    const shown = presentProps(props, values, { endpointUrl: null });
    const hidden = Object.keys(values).filter(name => !Object.hasOwn(shown, name));
    return {
      url: `action:${component._id}`,
      settings: { component_id: component._id, configured_props: values, hidden, dynamic },
      uses: {
        componentId: component._id,
        connectionIds: connectionsOf(props, values),
        named: connectionsOf(props, given),
      },
      secretsRemoved: old ? secretsRemoved(old, values, configured) : [],
    };
  });
}

const connectionsOf = (props: DescribedProp[], values: StoredProps): string[] => [
  ...new Set(connectedProps(props, values).map(({ connectionId }) => connectionId)),
];

const propsBefore = ({ dynamic }: ActionSettings, { description }: Component): DescribedProp[] =>
  dynamic ? withAddedProps(description.props, dynamic.props) : description.props;

/** Adds the path of the settings to the fields of the body that an error names. */
async function withPath<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || !error.fields.some(field => field.in === "body")) throw error;
    const fields = error.fields.map(field =>
      field.in === "body" ? { ...field, path: `${path}.${field.path}` } : field,
    );
    const message = fields.map(field => `${field.path}: ${field.message}`).join("; ");
    throw new AppError(error.code, message, { fields, cause: error });
  }
}

import type { CallRoute } from "../http/call-route.ts";
import { type FieldError, invalidFields } from "../lib/errors.ts";
import { isSecret } from "../props/kinds.ts";
import type { DescribedProp } from "../sandbox/protocol.ts";
import type { Envelope } from "./result.ts";
import type { Calling, FindRoute } from "./tools.ts";

/** Returns the arguments of a tool that configures a source, with the id of the component that they name. */
export type CheckConfigured = (
  given: Record<string, unknown>,
  calling: Calling,
) => Promise<Record<string, unknown>>;

type Prop = Pick<DescribedProp, "name" | "type" | "secret">;

interface Component {
  id: string;
  configurable_props: Prop[];
  additional_props: boolean;
}

interface Source {
  component_id: string;
  dynamic_props: Prop[];
}

/**
 * Returns a check that throws `invalid` for the value of a secret prop, and for credentials in place of a connection: what a
 * model writes stays in its context, in the logs of its host and in transcripts. Which props are secret, the component says, as
 * the routes show it to the caller.
 */
export function secretsCheck<Deps>(find: FindRoute<Deps>, callRoute: CallRoute<Deps>): CheckConfigured {
  const [componentRoute, sourceRoute] = [find("getComponent"), find("getSource")];
  const read = async <Thing>(route: typeof sourceRoute, id: unknown, { ctx, caller, orgId }: Calling) => {
    const found = await callRoute(route, { ctx, caller, orgId, params: { id: String(id) }, fields: {} });
    return (found as Envelope).data as Thing;
  };
  return async (given, calling) => {
    const { component_id: named, configured_props: configured = {} } = given;
    if (named === undefined && Object.keys(configured as object).length === 0) return given;
    const source =
      named === undefined ? await read<Source>(sourceRoute, given.source, calling) : { dynamic_props: [] };
    const id = "component_id" in source ? source.component_id : named;
    const component = await read<Component>(componentRoute, id, calling);
    const props = [...component.configurable_props, ...source.dynamic_props];
    const faults = Object.entries(configured as object).flatMap(([name, value]): FieldError[] => {
      const message = faultOf(
        props.filter(prop => prop.name === name),
        value,
        component,
      );
      return message === null ? [] : [{ in: "body", path: `configured_props.${name}`, message }];
    });
    if (faults.length > 0) throw invalidFields(faults);
    return named === undefined ? given : { ...given, component_id: component.id };
  };
}

/** Returns why a value can't be given; null if it can, or if the route says itself what is wrong with it. */
function faultOf(props: Prop[], value: unknown, { additional_props: makesProps }: Component): string | null {
  if (value === null) return null;
  if (props.length === 0) {
    return makesProps
      ? "may be a secret, which the component does not say in advance: set it in the dashboard"
      : null;
  }
  if (!props.some(isSecret) || isConnection(value)) return null;
  return props.some(({ secret }) => secret)
    ? "is a secret, which no agent may give: set it in the dashboard"
    : "must be a connection, {authProvisionId}: list_connections has their ids";
}

const isConnection = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).join() === "authProvisionId";

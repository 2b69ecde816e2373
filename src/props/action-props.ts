import { type FieldError, invalidFields } from "../lib/errors.ts";
import type { DescribedProp } from "../sandbox/protocol.ts";
import { type ConfigureOptions, configureProps, type StoredProps } from "./configure.ts";
import { isSecret } from "./kinds.ts";
import {
  fillTemplates,
  hasTemplates,
  TemplateError,
  type TemplateScope,
  templateFaults,
} from "./templates.ts";

/** True if the prop's value is filled in for each event. A secret or a credential is taken as it is. */
const isTemplated = (prop: DescribedProp, values: StoredProps): boolean =>
  !isSecret(prop) && Object.hasOwn(values, prop.name) && hasTemplates(values[prop.name]);

/**
 * As `configureProps`, for an action, whose values may have templates (docs/actions.md): of a value with one,
 * only the templates are checked now, and the rest with each event. Throws `invalid` with every fault.
 */
export function configureActionProps(
  props: DescribedProp[],
  configured: unknown,
  previous: StoredProps = {},
  options: ConfigureOptions = {},
): StoredProps {
  const values = { ...previous, ...(configured as StoredProps | undefined) };
  const templated = props.filter(prop => isTemplated(prop, values));
  const fields = templated.flatMap(({ name }) =>
    templateFaults(values[name]).map(({ path, message }): FieldError => {
      return { in: "body", path: `configured_props.${name}${path}`, message };
    }),
  );
  if (fields.length > 0) throw invalidFields(fields);
  const checkedLater = props.map(prop => (templated.includes(prop) ? asAny(prop) : prop));
  return configureProps(checkedLater, configured, previous, options);
}

/**
 * Returns the stored values of an action's props for one event, with their templates filled in. Throws `invalid` that names
 * each prop whose value is absent from the event or is not of the prop's type.
 */
export function actionPropsFor(
  props: DescribedProp[],
  stored: StoredProps,
  scope: TemplateScope,
): StoredProps {
  const templated = props.filter(prop => isTemplated(prop, stored));
  if (templated.length === 0) return stored;
  const fields: FieldError[] = [];
  const filled: StoredProps = {};
  for (const { name } of templated) {
    try {
      filled[name] = fillTemplates(stored[name], scope);
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      fields.push({ in: "body", path: `configured_props.${name}${error.path}`, message: error.message });
    }
  }
  if (fields.length > 0) throw invalidFields(fields);
  const checked = configureProps(templated, filled);
  const others = Object.entries(stored).filter(([name]) => !Object.hasOwn(filled, name));
  return { ...Object.fromEntries(others), ...checked };
}

/** A prop of any type, with neither choices nor labels. */
function asAny({ name, optional, default: initial }: DescribedProp): DescribedProp {
  return {
    name,
    type: "any",
    ...(optional && { optional }),
    ...(initial !== undefined && { default: initial }),
  };
}

import { AppError, invalidField } from "../../lib/errors.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { addedProps, withAddedProps } from "../../props/dynamic-props.ts";
import { checkDescription } from "../../sandbox/check-description.ts";
import type { ComponentDescription, DescribedProp } from "../../sandbox/protocol.ts";
import { faultsOfMadeProps } from "../describe.ts";

const MAX_BYTES = LIMITS.dynamicPropsBytes.value;

/**
 * Returns those of the props that `additionalProps` described which are not, or not so, the component's own. Throws `invalid`
 * that names what is wrong with them.
 */
export function checkAdded(description: ComponentDescription, described: unknown): DescribedProp[] {
  const { name, version, props: own } = description;
  const checked = checkDescription({ name, version, hooks: [], hasRun: true, props: described });
  const props = addedProps(own, checked.props);
  if (Buffer.byteLength(JSON.stringify(props)) > MAX_BYTES) {
    throw invalidField("component", "additionalProps", `returned more than ${MAX_BYTES / 1024} KB of props`);
  }
  const fields = faultsOfMadeProps(description, withAddedProps(own, props));
  if (fields.length === 0) return props;
  const detail = fields.map(({ path, message }) => `${path}: ${message}`).join("; ");
  throw new AppError("invalid", `additionalProps returned props that can't be used: ${detail}`, { fields });
}

import { AppError, type FieldError } from "../lib/errors.ts";
import { findKind, TIMER_TYPE } from "../props/kinds.ts";
import type { BundleText } from "../sandbox/bundle.ts";
import type { DescribeOptions, Sandboxes } from "../sandbox/host.ts";
import type { ComponentDescription, DescribedProp } from "../sandbox/protocol.ts";
import type { BuiltBundle } from "./builder/with-built.ts";
import { callsRespond } from "./calls-respond.ts";

/** The description of a saved component. */
export interface DescribedComponent extends ComponentDescription {
  /**
   * The code calls `respond`, so that the response to an HTTP request waits for it
   * (docs/component-api.md#events-given-to-run).
   */
  usesRespond: boolean;
}

/**
 * Evaluates the bundle in the sandbox, and returns its description after checking it (docs/component-api.md#shape,
 * docs/component-api.md#props). `options.owner` is the account that saves the component. Throws AppError `invalid` that names
 * every invalid field.
 */
export async function describeComponent(
  sandboxes: Pick<Sandboxes, "describe">,
  bundle: BundleText | BuiltBundle,
  options?: DescribeOptions,
): Promise<DescribedComponent> {
  const { notFunctions = [], ...description } = await sandboxes.describe(bundle, options);
  const fields = [
    ...checkHead(description),
    ...notFunctions.map(path => fieldError(path, "must be a function")),
    ...description.props.flatMap(checkProp),
    ...checkTimers(description.props),
  ];
  if (fields.length > 0) {
    const detail = fields.map(({ path, message }) => `${path}: ${message}`).join("; ");
    throw new AppError("invalid", `the component can't be saved: ${detail}`, { fields });
  }
  return { ...description, usesRespond: "code" in bundle ? callsRespond(bundle.code) : bundle.usesRespond };
}

const fieldError = (path: string, message: string): FieldError => ({ in: "component", path, message });

function checkHead({ name, version, key, type }: ComponentDescription): FieldError[] {
  const errors: FieldError[] = [];
  if (typeof name !== "string" || name.trim() === "") errors.push(fieldError("name", "is required"));
  if (typeof version !== "string" || version.trim() === "") errors.push(fieldError("version", "is required"));
  if (type !== undefined && type !== "source") {
    errors.push(fieldError("type", `must be "source" or absent; ${JSON.stringify(type)} can't be deployed`));
  }
  // A component could not be found by a key that looks like an id.
  if (key !== undefined && (!/^[\x21-\x7e]{1,200}$/.test(key) || key.startsWith("sc_"))) {
    errors.push(
      fieldError("key", "must have at most 200 visible ASCII characters and must not start with sc_"),
    );
  }
  return errors;
}

function checkProp(prop: DescribedProp): FieldError[] {
  const path = `props.${prop.name}`;
  if (prop.name === "" || prop.name.startsWith("$") || prop.name === "__proto__") {
    return [fieldError(path, "is not a valid name of a prop")];
  }
  const kind = findKind(prop.type);
  if (!kind) return [fieldError(`${path}.type`, `${JSON.stringify(prop.type)} is not a type of props`)];
  return (kind.checkDeclared?.(prop) ?? []).map(found => fieldError(path + found.path, found.message));
}

function checkTimers(props: DescribedProp[]): FieldError[] {
  const timers = props.filter(prop => prop.type === TIMER_TYPE);
  const second = timers[1];
  return second === undefined
    ? []
    : [fieldError(`props.${second.name}`, "a source can have at most one timer")];
}

import { type FieldError, invalidFields } from "../lib/errors.ts";
import { APPHOOK_TYPE, findKind, HTTP_TYPE, TIMER_TYPE } from "../props/kinds.ts";
import type { BundleText } from "../sandbox/bundle.ts";
import type { ComponentDescription, DescribedProp } from "../sandbox/protocol.ts";
import type { DescribeOptions, Sandboxes } from "../sandbox/sandboxes.ts";
import type { AuthorVerify } from "../verify/schema.ts";
import type { BuiltBundle } from "./builder/with-built.ts";
import { type CodeTraits, codeTraits, isAction } from "./code-traits.ts";

/** The description of a saved component. */
export interface DescribedComponent extends ComponentDescription, CodeTraits {}

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
  const description = checkDescribed(await sandboxes.describe(bundle, options));
  return { ...description, ...("code" in bundle ? codeTraits(bundle.code) : bundle.traits) };
}

/** Returns what is kept of a component's description. Throws AppError `invalid` that names every field with which it can't be saved. */
export function checkDescribed({
  notFunctions = [],
  ...description
}: ComponentDescription): ComponentDescription {
  const fields = [
    ...checkHead(description),
    ...notFunctions.map(path => fieldError(path, "must be a function")),
    ...faultsOfProps(description),
    ...checkAction({ ...description, notFunctions }),
  ];
  if (fields.length > 0) throw invalidFields(fields, "the component can't be saved");
  return description;
}

/** Returns what is wrong with a component's props, with those that its `additionalProps` made. */
export const faultsOfMadeProps = (
  description: Pick<ComponentDescription, "type" | "hooks">,
  props: DescribedProp[],
): FieldError[] => [
  ...faultsOfProps({ hooks: description.hooks, props }),
  ...(isAction(description) ? ofSourcesOnly(props) : []),
];

type WithProps = Pick<ComponentDescription, "hooks" | "props">;

const faultsOfProps = ({ hooks, props }: WithProps): FieldError[] => [
  ...props.flatMap(checkProp),
  ...atMostOne(props, TIMER_TYPE, "timer"),
  ...atMostOne(props, APPHOOK_TYPE, "apphook"),
  ...props.flatMap(prop => checkVerifySecret(prop, { hooks, props })),
];

const fieldError = (path: string, message: string): FieldError => ({ in: "component", path, message });

function checkHead({ name, version, key, type }: ComponentDescription): FieldError[] {
  const errors: FieldError[] = [];
  if (typeof name !== "string" || name.trim() === "") errors.push(fieldError("name", "is required"));
  if (typeof version !== "string" || version.trim() === "") errors.push(fieldError("version", "is required"));
  if (type !== undefined && type !== "source" && type !== "action") {
    errors.push(fieldError("type", `must be "source", "action" or absent, and not ${JSON.stringify(type)}`));
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

/** The secret by which requests are verified is what a source configures for another prop, or a hook sets, and never in the code. */
function checkVerifySecret({ name, verify }: DescribedProp, { props, hooks }: WithProps): FieldError[] {
  const { secret } = (verify ?? {}) as AuthorVerify;
  const fault = (message: string) => [fieldError(`props.${name}.verify.secret`, message)];
  if (typeof secret === "object") {
    const isSet = hooks.some(hook => hook !== "deactivate");
    return isSet ? [] : fault("needs a hook deploy or activate, which sets it");
  }
  const named = props.find(prop => prop.name === secret);
  if (secret === undefined || (named?.type === "string" && named.secret)) return [];
  return fault("must be the name of a prop of type string with secret: true");
}

/** What an action has no use for, because an event runs it (docs/component-api.md#actions). */
const SOURCES_ONLY = new Set([TIMER_TYPE, HTTP_TYPE, APPHOOK_TYPE]);

function checkAction(description: ComponentDescription): FieldError[] {
  if (!isAction(description)) return [];
  const { props, hooks, hasRun, notFunctions } = description;
  const isRunAbsent = !hasRun && !notFunctions?.includes("run");
  return [
    ...(isRunAbsent ? [fieldError("run", "is required: an action is its run function")] : []),
    ...hooks.map(hook => fieldError(`hooks.${hook}`, "is for sources; an action has no hooks")),
    ...ofSourcesOnly(props),
  ];
}

const ofSourcesOnly = (props: DescribedProp[]): FieldError[] =>
  props
    .filter(({ type }) => SOURCES_ONLY.has(type))
    .map(({ name, type }) => fieldError(`props.${name}`, `${type} is for sources; an action can't have it`));

function atMostOne(props: DescribedProp[], type: string, what: string): FieldError[] {
  const second = props.filter(prop => prop.type === type)[1];
  return second === undefined
    ? []
    : [fieldError(`props.${second.name}`, `a source can have at most one ${what}`)];
}

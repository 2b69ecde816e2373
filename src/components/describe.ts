import { AppError, type FieldError } from "../lib/errors.ts";
import { findKind, TIMER_TYPE } from "../props/kinds.ts";
import type { Bundle } from "../sandbox/bundle.ts";
import type { Sandboxes } from "../sandbox/host.ts";
import type { ComponentDescription, DescribedProp } from "../sandbox/protocol.ts";

/** What is known of a component once it is saved. */
export interface DescribedComponent extends ComponentDescription {
  /** The code calls `respond` somewhere, so an HTTP request's answer waits for it (runtime.md, "HTTP"). */
  usesRespond: boolean;
}

/**
 * Runs the bundle in the sandbox once to see what the component says of itself, and refuses what could not run
 * (runtime.md, "Shape", "Props"); `owner` is the account that saves it. Throws AppError invalid with every fault named.
 */
export async function describeComponent(
  sandboxes: Pick<Sandboxes, "describe">,
  bundle: Bundle,
  owner?: string,
): Promise<DescribedComponent> {
  const description = await sandboxes.describe(bundle, owner === undefined ? {} : { owner });
  const fields = [
    ...checkHead(description),
    ...description.props.flatMap(checkProp),
    ...checkSet(description.props),
  ];
  if (fields.length > 0) {
    const detail = fields.map(({ path, message }) => `${path}: ${message}`).join("; ");
    throw new AppError("invalid", `the component can't be saved: ${detail}`, { fields });
  }
  return { ...description, usesRespond: callsRespond(bundle.code) };
}

const fault = (path: string, message: string): FieldError => ({ in: "component", path, message });

function checkHead({ name, version, key, type }: ComponentDescription): FieldError[] {
  const faults: FieldError[] = [];
  if (typeof name !== "string" || name.trim() === "") faults.push(fault("name", "is required"));
  if (typeof version !== "string" || version.trim() === "") faults.push(fault("version", "is required"));
  if (type !== undefined && type !== "source") {
    faults.push(fault("type", `must be "source" or absent; ${JSON.stringify(type)} can't be deployed`));
  }
  // A key like an id would never be found by it.
  if (key !== undefined && (!/^[\x21-\x7e]{1,200}$/.test(key) || key.startsWith("sc_"))) {
    faults.push(fault("key", "must be up to 200 visible ASCII characters, not beginning with sc_"));
  }
  return faults;
}

function checkProp(prop: DescribedProp): FieldError[] {
  const path = `props.${prop.name}`;
  if (prop.name === "" || prop.name.startsWith("$") || prop.name === "__proto__") {
    return [fault(path, "is no name for a prop")];
  }
  const kind = findKind(prop.type);
  if (!kind) return [fault(`${path}.type`, `there is no prop type ${JSON.stringify(prop.type)}`)];
  return (kind.checkDeclared?.(prop) ?? []).map(found => fault(path + found.path, found.message));
}

function checkSet(props: DescribedProp[]): FieldError[] {
  const timers = props.filter(prop => prop.type === TIMER_TYPE);
  const second = timers[1];
  return second === undefined ? [] : [fault(`props.${second.name}`, "a source has one timer at most")];
}

/** `x.respond(`, `x["respond"](`, `respond.call(`, `x.respond?.(` */
const RESPOND_CALL = /(?<![\w$])respond(?:["'`]\])?(?:\?\.)?(?:\(|\.(?:call|apply|bind)\()/;

/** Only the component's own files count; the bundle names the file before each part, and holds no other comment. */
function callsRespond(code: string): boolean {
  return code
    .split(/^\/\/ (?=(?:own|npm|missing):)/m)
    .some(part => part.startsWith("own:") && RESPOND_CALL.test(part));
}

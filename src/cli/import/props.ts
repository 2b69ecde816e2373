import { APP_TYPE, APPHOOK_TYPE, HTTP_TYPE, TIMER_TYPE } from "../../props/kinds.ts";
import type { Hand, HandKind } from "./hands.ts";
import type { Names } from "./names.ts";
import type { ShownComponent, ShownProp, ShownUse } from "./shown.ts";

interface PropTools {
  names: Names;
  /** What the file calls the source or the action. */
  thing: string;
  /** Returns what the file calls the connection with this id, of this app; null if neither is known. */
  connectionOf: (id: string, app: string | null) => string | null;
}

/** What becomes of a value: it is in the file, or a person has to see to it. */
type Outcome = { value: unknown } | Pick<Hand, "kind" | "text">;

const MEMORY_TYPE = "$.service.db";

/** Returns the props of a source or an action as `apply` takes them, and what they lack. */
export function declareProps(used: ShownUse, component: ShownComponent, tools: PropTools) {
  const values = used.configured_props ?? {};
  const known = new Map((component.configurable_props ?? []).map(prop => [prop.name, prop]));
  const outcomes: [string, Outcome][] = [];
  const hands: Hand[] = [];
  const hand = (kind: HandKind, text: string) => hands.push({ kind, thing: tools.thing, text });
  for (const prop of known.values()) {
    if (prop.type === MEMORY_TYPE) hand("memory", `\`${prop.name}\``);
    if (prop.secret !== true || !isSecretSet(prop, used)) continue;
    const variable = tools.names.variable(tools.thing, prop.name);
    outcomes.push([prop.name, { value: `\${${variable}}` }]);
    hand("secret", `\`${variable}\` is its \`${prop.name}\``);
  }
  for (const [name, value] of Object.entries(values)) {
    const prop = known.get(name);
    if (prop?.secret === true || value === null || value === undefined) continue;
    const isKnown = prop !== undefined || makesProps(component);
    const unknown = { kind: "prop", text: "its component has no such prop" } as const;
    outcomes.push([name, isKnown ? outcomeOf(prop, value, tools) : unknown]);
  }
  const props: [string, unknown][] = [];
  for (const [name, outcome] of outcomes) {
    if ("value" in outcome) props.push([name, outcome.value]);
    else hand(outcome.kind, `\`${name}\`: ${outcome.text}`);
  }
  return { props: Object.fromEntries(props), hands };
}

function outcomeOf(prop: ShownProp | undefined, value: unknown, { connectionOf }: PropTools): Outcome {
  const fields = value as Record<string, unknown>;
  switch (prop?.type) {
    case HTTP_TYPE:
    case APPHOOK_TYPE:
      return { kind: "address", text: `was ${shortOf(fields.endpoint_url ?? "not shown")}` };
    case TIMER_TYPE: {
      const timer = timerOf(fields);
      return timer ? { value: timer } : { kind: "prop", text: "its timer can't be read" };
    }
    case "data_store":
    case "dir":
    case "sql":
      return { kind: "prop", text: `a ${prop.type} of the other server, ${shortOf(value)}` };
    case APP_TYPE: {
      const { authProvisionId: id } = fields;
      const name = typeof id === "string" ? connectionOf(id, prop.app ?? null) : null;
      if (name !== null) return { value: { authProvisionId: name } };
      return { kind: "prop", text: "an account of an app that the server did not name" };
    }
    default:
      return { value: literal(value) };
  }
}

/** A server that does not say which secrets are set leaves out those that are required, too. */
function isSecretSet(prop: ShownProp, { secrets_set, configured_props }: ShownUse): boolean {
  if (secrets_set) return secrets_set.includes(prop.name);
  return prop.optional !== true || (configured_props?.[prop.name] ?? null) !== null;
}

/** Whether code makes props of its own, so that a source may have others than the component declares. */
const makesProps = ({ code, files }: ShownComponent): boolean =>
  [code ?? "", ...Object.values(files ?? {})].some(text => text.includes("additionalProps"));

/** Returns a timer as requests give it. */
function timerOf({ cron, interval_seconds, intervalSeconds }: Record<string, unknown>): object | null {
  if (typeof cron === "string" && cron !== "") return { cron };
  const seconds = interval_seconds ?? intervalSeconds;
  return typeof seconds === "number" ? { intervalSeconds: seconds } : null;
}

const shortOf = (value: unknown): string =>
  (typeof value === "string" ? value : JSON.stringify(value)).slice(0, 200);

/** Returns a value in which `${` is text, and names no variable of the environment. */
export function literal<Value>(value: Value): Value;
export function literal(value: unknown): unknown {
  // A function returns it: `$$` in a replacement would be one dollar.
  if (typeof value === "string") return value.replaceAll("${", () => "$${");
  if (Array.isArray(value)) return value.map(one => literal(one));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, literal(one)]));
}

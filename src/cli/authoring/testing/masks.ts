import { AppError } from "../../../lib/errors.ts";
import type { DescribedProp } from "../../../sandbox/protocol.ts";
import { hasReference, type ReadVariable, resolveReferences } from "../../apply/schema.ts";

type Props = Record<string, unknown>;

/** Shorter texts are in too many others. */
const LEAST_CHARACTERS = 4;
/** Fields of responses that are secret whatever is in them. */
const SECRET_FIELD = /token|secret|password|api_?key|authorization|private_?key/i;
const MASKED = "masked";

/** The text in place of a secret: fit for addresses, headers and JSON, in which it stays as it is. */
const placeholder = (name: string): string => `${MASKED}_${name}`;

/** Returns the props of a case as its code gets them where nothing is asked of the service: a text in place of each `${NAME}`. */
export const maskedProps = (props: Props): Props => resolveReferences(props, placeholder).value as Props;

/** Props with the values of the environment, and what takes these out of what was recorded. */
export interface OpenProps {
  props: Props;
  mask: <T>(recorded: T) => T;
}

/**
 * Returns the props of a case for the service itself, with the values of the environment in place of each `${NAME}`. Throws `invalid` for
 * a variable that is absent, and for a secret prop whose value is in the file.
 */
export function openProps(props: Props, described: readonly DescribedProp[], read: ReadVariable): OpenProps {
  const open = described.find(
    ({ name, secret, type }) =>
      (secret || type === "app") && props[name] !== undefined && !hasReference(props[name]),
  );
  if (open) {
    const message = `props.${open.name} is secret: write "\${NAME}" in the file, and set the environment variable NAME`;
    throw new AppError("invalid", message);
  }
  const secrets = new Map<string, string>();
  const { value, problems } = resolveReferences(props, name => {
    const found = read(name);
    if (found) secrets.set(found, placeholder(name));
    return found;
  });
  if (problems.length > 0)
    throw new AppError("invalid", problems.map(problem => `props.${problem}`).join("; "));
  return { props: value as Props, mask: recorded => masked(recorded, secrets) };
}

/**
 * Returns a JSON value without these texts, in whatever form an address or a body has them, and without what is in fields that are
 * secret by name, wherever else it is.
 */
function masked<T>(recorded: T, secrets: ReadonlyMap<string, string>): T {
  const named = new Map(secretsIn(recorded).map(text => [text, MASKED]));
  const hidden = [...named, ...secrets].filter(([text]) => text.length >= LEAST_CHARACTERS);
  const forms = hidden.flatMap(([text, mask]) => formsOf(text).map(form => [form, mask] as const));
  // The longest first: one may be a part of another.
  forms.sort(([a], [b]) => b.length - a.length);
  const hide = (text: string) => forms.reduce((left, [form, mask]) => left.replaceAll(form, mask), text);
  const json = JSON.stringify(recorded, (name, value: unknown) => {
    if (typeof value !== "string") return value;
    const shown = hide(value);
    // The placeholder says more than that something was masked.
    return SECRET_FIELD.test(name) && shown === value ? MASKED : shown;
  });
  return JSON.parse(json);
}

/** Returns the texts in fields that are secret by name. */
function secretsIn(recorded: unknown): string[] {
  const found: string[] = [];
  JSON.stringify(recorded, (name, value: unknown) => {
    if (SECRET_FIELD.test(name) && typeof value === "string") found.push(value);
    return value;
  });
  return found;
}

function formsOf(secret: string): string[] {
  const inForm = new URLSearchParams([["", secret]]).toString().slice(1);
  const forms = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    encodeURI(secret),
    inForm,
  ];
  const base64 = Buffer.from(secret).toString("base64");
  return [...new Set([...forms, base64, Buffer.from(secret).toString("base64url")])];
}

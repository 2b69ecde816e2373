import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { isObject } from "../../lib/json.ts";
import { readJsonFile } from "../input.ts";

/** The values of a component's props, and the event that it is run with; undefined for the usual one. */
interface Given {
  values: Record<string, unknown>;
  event: unknown;
}

/** The values that a file has for components. */
export interface GivenProps {
  /** All of the file. */
  values: object;
  /** Returns those of a component, by the first of its names that the file has. */
  of(names: readonly (string | null)[]): Given;
}

/** A prop of this name could not be configured. */
const EVENT = "$event";

/**
 * Reads prop values by the key, path or address of their component; none without a file. Throws AppError `invalid` that names
 * the file and what is wrong in it.
 */
export async function readGivenProps(path: string | undefined): Promise<GivenProps> {
  const read = path === undefined ? {} : await readJsonFile(path);
  if (!isObject(read))
    throw new AppError("invalid", `--props: ${path} must contain an object: prop values by component`);
  const wrong = Object.keys(read).find(name => !isObject(read[name]));
  if (wrong !== undefined) {
    throw new AppError("invalid", `--props: ${path}: ${wrong} must be an object: prop values by name`);
  }
  return {
    values: read,
    of(names) {
      const name = names.find(one => one !== null && Object.hasOwn(read, one)) ?? null;
      const { [EVENT]: event, ...values } = name === null ? {} : (read[name] as Record<string, unknown>);
      return { values, event };
    },
  };
}

type Prop = Schemas["Component"]["configurable_props"][number];

/** Made-up accounts of apps and values of props, with which every component can be run where there is no network. */
export interface MadeUp {
  /** All of the file. */
  accounts: object;
  /** Returns a value for each prop that needs one. */
  valuesOf(props: readonly Prop[]): Record<string, unknown>;
}

const TEXT = "made-up";

/** What code reads of `$auth` most often. */
const USUAL_AUTH: Record<string, unknown> = {
  ...Object.fromEntries(
    [
      ...[
        "oauth_access_token",
        "oauth_refresh_token",
        "access_token",
        "api_key",
        "apikey",
        "api_token",
        "api_secret",
      ],
      ...[
        "token",
        "secret",
        "secret_key",
        "client_id",
        "client_secret",
        "key",
        "username",
        "password",
        "account_id",
      ],
      ...["oauth_uid", "organization_id", "workspace", "subdomain", "region", "database", "user"],
    ].map(name => [name, TEXT]),
  ),
  email: "made-up@example.com",
  port: "443",
  ...Object.fromEntries(["host", "domain"].map(name => [name, "example.com"])),
  ...Object.fromEntries(
    ["url", "api_url", "base_url", "instance_url", "base_api_uri"].map(name => [name, "https://example.com"]),
  ),
};

/**
 * Reads the fields of `$auth` by the slug of their app; an app that the file lacks has the usual ones. Throws AppError `invalid`
 * that names the file and the field.
 */
export async function readAccounts(path: string): Promise<MadeUp> {
  const read = await readJsonFile(path);
  const invalid = (what: string) => new AppError("invalid", `--accounts: ${path}${what}`);
  if (!isObject(read)) throw invalid(" must contain an object: the fields of $auth by the slug of their app");
  for (const [app, fields] of Object.entries(read)) {
    if (!isObject(fields)) throw invalid(`: ${app} must be an object: the fields of $auth`);
    const wrong = Object.keys(fields).find(name => !isScalar(fields[name]));
    if (wrong !== undefined) throw invalid(`: ${app}.${wrong} must be a text, a number or a boolean`);
  }
  const accounts = read as Record<string, Record<string, unknown>>;
  return {
    accounts,
    valuesOf: props =>
      Object.fromEntries(
        props.flatMap(prop => {
          const value = madeUp(prop, accounts);
          return value === undefined ? [] : [[prop.name, value]];
        }),
      ),
  };
}

/** Returns undefined for a prop that has a value, or needs none. */
function madeUp(prop: Prop, accounts: Record<string, Record<string, unknown>>): unknown {
  const { type, app, options, min, optional } = prop as Prop & Record<string, unknown>;
  if (type === "app") {
    const given = typeof app === "string" && Object.hasOwn(accounts, app) ? accounts[app] : {};
    return { $auth: { ...USUAL_AUTH, ...given } };
  }
  if (optional || (prop as Record<string, unknown>).default !== undefined) return undefined;
  const isList = type.endsWith("[]");
  const one = optionOf(options) ?? ofType(isList ? type.slice(0, -2) : type, min);
  return isList && one !== undefined ? [one] : one;
}

function optionOf(options: unknown): unknown {
  const [first] = Array.isArray(options) ? options : [];
  return isObject(first) && "value" in first ? first.value : first;
}

function ofType(type: string, min: unknown): unknown {
  if (type === "integer") return typeof min === "number" ? min : 1;
  if (type === "boolean") return false;
  if (type === "object") return {};
  if (type === "string" || type === "any") return TEXT;
  if (type === "http_request") return { url: "https://example.com/", method: "GET" };
  return /^\$\.(?!interface|service)/.test(type) ? TEXT : undefined;
}

const isScalar = (value: unknown): boolean => ["string", "number", "boolean"].includes(typeof value);

import type { Scope } from "../../http/authorize.ts";
import { compileCheck } from "../../http/validate.ts";
import { AppError } from "../../lib/errors.ts";
import { canonicalJson, isObject } from "../../lib/json.ts";
import { openPer } from "../../lib/lazy.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Stores } from "../../platform.ts";
import { findSource } from "../../sources/source.ts";
import { checkFilter } from "../../subscriptions/filter.ts";
import { findWorkflow } from "../../workflows/workflows.ts";
import { RpcError } from "../protocol.ts";
import type { InputSchema } from "../tool-schemas.ts";
import { eventTypeOf } from "./event-types.ts";

/** What a client subscribes to, or wants no more: what its subscription is known by, with its user and its account. */
export interface Wanted {
  name: string;
  /** Canonical JSON. A source is named by its id: a name may mean another one tomorrow. */
  arguments: string;
  url: string;
  emitterId: string;
  /** For people: `source Orders`. */
  about: string;
  channel: string;
  filter: unknown;
}

type Params = Record<string, unknown>;

/** Returns an object of the parameters. Throws InvalidParams for anything else. */
export function objectIn(params: Params, name: string): Params {
  const value = params[name];
  if (isObject(value)) return value;
  throw new RpcError("invalidParams", `params.${name} must be an object`);
}

/** Returns a text of the parameters. Throws InvalidParams if it is absent, empty, or longer than a URL may be. */
export function textIn(params: Params, name: string, path = `params.${name}`): string {
  const value = params[name];
  if (typeof value === "string" && value !== "" && value.length <= LIMITS.urlCharacters.value) return value;
  throw new RpcError("invalidParams", `${path} must be a string`);
}

/** Throws what a request of the API is rejected with, as the protocol's error for wrong parameters. */
export const asInvalidParams = (error: unknown): unknown =>
  error instanceof AppError && (error.code === "invalid" || error.code === "conflict")
    ? new RpcError("invalidParams", error.message)
    : error;

const checkOf = openPer((schema: InputSchema) => compileCheck(schema, "body"));

/**
 * Returns what the parameters of `events/subscribe` and `events/unsubscribe` say alike. Throws NotFound for an event type, a source
 * or a workflow that none of the caller's accounts has, and InvalidParams.
 */
export async function readWanted(platform: Stores, params: Params, scope: Scope): Promise<Wanted> {
  const name = textIn(params, "name");
  const url = textIn(objectIn(params, "delivery"), "url", "params.delivery.url");
  const type = eventTypeOf(name);
  if (!type) throw noSuchEvent("there is no event type with this name: events/list has their names");
  const given = params.arguments === undefined ? {} : objectIn(params, "arguments");
  if (Buffer.byteLength(JSON.stringify(given)) > LIMITS.mcpArgumentsBytes.value) {
    throw new RpcError(
      "invalidParams",
      `params.arguments must have at most ${LIMITS.mcpArgumentsBytes.value} bytes`,
    );
  }
  const [wrong] = checkOf(type.input)(given);
  if (wrong) throw new RpcError("invalidParams", `params.arguments: ${wrong.path}: ${wrong.message}`);
  const { emitter, channel } = type.select(given);
  const { filter } = given;
  checkGivenFilter(filter);
  if (!emitter) {
    const emitted = { emitterId: scope.owner, about: "alerts", channel, filter };
    return { name, url, arguments: canonicalJson(given), ...emitted };
  }
  const find = emitter.kind === "source" ? findSource : findWorkflow;
  const found = await find(platform, emitter.id, scope.owners).catch((error: unknown) => {
    throw asInvalidParams(error);
  });
  if (!found) throw noSuchEvent(`there is no ${emitter.kind} ${emitter.id}`);
  const named = emitter.kind in given ? { ...given, [emitter.kind]: found._id } : given;
  const about = aboutOf(emitter.kind, found.name, channel);
  return { name, url, arguments: canonicalJson(named), emitterId: found._id, about, channel, filter };
}

function aboutOf(kind: string, name: string, channel: string): string {
  if (channel === "$errors") return `errors of ${kind} ${name}`;
  return channel === "" ? `${kind} ${name}` : `${kind} ${name}, ${channel}`;
}

/** Before anything is asked or stored. Throws InvalidParams for a malformed filter. */
function checkGivenFilter(filter: unknown): void {
  try {
    if (filter !== undefined) checkFilter(filter);
  } catch (error) {
    throw asInvalidParams(error);
  }
}

const noSuchEvent = (message: string) => new RpcError("notFound", message, { data: { kind: "event" } });

import { LIMITS } from "../../limits/catalogue.ts";
import type { AppEventRules } from "../../models/app.ts";
import { fillTemplates, TemplateError } from "../../props/templates.ts";
import { IN_REQUESTS, ONE_IN_REQUESTS } from "./rules.ts";

/** What a request of an app says. */
export interface AppRequest {
  /** What the event in it is called. */
  names: Set<string>;
  /** What sources receive; undefined if the request has none. */
  event: unknown;
  /** What the app wants sent back; null if it only reports an event. */
  challenge: string | null;
}

/** The part of a request that templates may name. */
interface Readable {
  body: unknown;
  headers: Record<string, string>;
  query: Record<string, unknown>;
}

const MAX_NAME = LIMITS.eventNameChars.value;
const MAX_CHALLENGE = 1024;

/** Reads a request of an app by the rules of its connection or of its operator (docs/connections.md#events-of-an-app). */
export function readAppRequest(
  { names = [], event, challenge }: AppEventRules,
  request: Readable,
): AppRequest {
  const { body, headers, query } = request;
  const scope = { body, headers, query, request };
  const find = (template: string, rules = IN_REQUESTS): unknown => {
    try {
      return fillTemplates(template, scope, rules);
    } catch (error) {
      if (error instanceof TemplateError) return undefined;
      throw error;
    }
  };
  const called = names
    .map(name => find(name))
    .filter(isName)
    .map(String);
  const wanted = challenge === undefined ? undefined : find(challenge);
  return {
    names: new Set(called.filter(name => name.length <= MAX_NAME)),
    event: event === undefined ? body : find(event, ONE_IN_REQUESTS),
    challenge: typeof wanted === "string" && wanted.length <= MAX_CHALLENGE ? wanted : null,
  };
}

const isName = (value: unknown): boolean =>
  (typeof value === "string" && value !== "") || typeof value === "number";

import type { ComponentDescription } from "../sandbox/protocol.ts";

/** What a component's own files do, as their text shows it. */
export interface CodeTraits {
  /** They call `respond`, so that the response to an HTTP request waits (docs/component-api.md#events-given-to-run). */
  usesRespond: boolean;
  /** They add a slash to the address of the endpoint (docs/component-api.md#events-given-to-run). */
  addsSlash: boolean;
}

/** `x.respond(`, `x["respond"](`, `respond.call(`, `x.respond?.(` */
const RESPOND_CALL = /(?<![\w$])respond(?:["'`]\])?(?:\?\.)?(?:\(|\.(?:call|apply|bind)\()/;
/** `${x.endpoint}/` as a whole, and `x.endpoint + "/"`; not a path below the endpoint. */
const SLASH_ADDED = /(?<![\w$])endpoint(?:Url)?(?:\}\/`|\s*\+\s*(["'`])\/\1)/;

/**
 * Returns the traits of the component in a bundle. The bundle contains a comment with the file's name before each part, and no
 * other comments.
 */
export function codeTraits(code: string): CodeTraits {
  const own = code.split(/^\/\/ (?=(?:own|npm|missing):)/m).filter(part => part.startsWith("own:"));
  return {
    usesRespond: own.some(part => RESPOND_CALL.test(part)),
    addsSlash: own.some(part => SLASH_ADDED.test(part)),
  };
}

/** What a component is deployed as. */
export type ComponentType = "source" | "action";

/** True for a component that an event runs as a destination; all others are deployed as sources (docs/component-api.md#actions). */
export const isAction = ({ type }: Pick<ComponentDescription, "type">): boolean => type === "action";

/** Code that names no type is a source. */
export const typeOf = (description: Pick<ComponentDescription, "type">): ComponentType =>
  isAction(description) ? "action" : "source";

/** `x.respond(`, `x["respond"](`, `respond.call(`, `x.respond?.(` */
const RESPOND_CALL = /(?<![\w$])respond(?:["'`]\])?(?:\?\.)?(?:\(|\.(?:call|apply|bind)\()/;

/**
 * Returns true if the component's own files in a bundle call `respond` (docs/component-api.md#events-given-to-run). The bundle
 * contains a comment with the file's name before each part, and no other comments.
 */
export function callsRespond(code: string): boolean {
  return code
    .split(/^\/\/ (?=(?:own|npm|missing):)/m)
    .some(part => part.startsWith("own:") && RESPOND_CALL.test(part));
}

import type { Context } from "koa";
import type { TObject } from "typebox";
import { invalidField } from "../lib/errors.ts";
import { type Revised, requireAsRead, revisionChanged, revisionOf } from "../store/revisions.ts";
import type { AnyRoute } from "./route.ts";

/** One tag of `If-Match`. A proxy that compresses responses makes weak ones of ours. */
const TAG = /^(?:W\/)?"(\d{1,15})"$/;

/** True for routes that change or delete a resource whose revisions are counted: they heed `If-Match`. */
export const heedsIfMatch = (route: AnyRoute): boolean =>
  route.access.kind === "resource" &&
  route.access.isRevised === true &&
  (route.heedsIfMatch === true || route.method === "PUT" || route.method === "DELETE");

/** True for routes that respond with one resource whose revisions are counted: they send an `ETag`. */
export const sendsEtag = ({ response }: AnyRoute): boolean =>
  response.kind === "data" &&
  Object.hasOwn((response.schema as Partial<TObject>).properties ?? {}, "revision");

/**
 * Holds a request to its `If-Match`: the resource must have one of these revisions now, and still have it when it is written.
 * Throws `precondition-failed`, and `invalid` for a header that can't be read.
 */
export function checkIfMatch(ctx: Context, route: AnyRoute, resource: unknown): void {
  const header = ctx.get("if-match").trim();
  // Of a resource that was not there the request would have ended before.
  if (header === "" || header === "*" || !heedsIfMatch(route)) return;
  const wanted = header.split(",").map(tag => Number(TAG.exec(tag.trim())?.[1] ?? Number.NaN));
  if (wanted.some(Number.isNaN)) {
    throw invalidField("header", "If-Match", 'must be the ETag of an earlier response, such as "3", or *');
  }
  const revised = resource as Revised;
  if (!wanted.includes(revisionOf(revised))) throw revisionChanged(revised, Math.max(...wanted));
  requireAsRead(revised);
}

/** Sets the `ETag` of a response that shows a resource, by its revision. */
export function setEtag(ctx: Context, route: AnyRoute, result: unknown): void {
  if (!sendsEtag(route)) return;
  const { revision } = result as { revision: number };
  ctx.set("ETag", `"${revision}"`);
}

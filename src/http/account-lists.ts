import type { Static, TObject } from "typebox";
import type { ErrorCode } from "../lib/errors.ts";
import {
  type AnyRoute,
  type ListResponse,
  type NoFields,
  type PageResponse,
  type ResponseResult,
  type RouteRequest,
  routeFor,
} from "./route.ts";

interface AccountLists<Deps, Spec extends ListResponse | PageResponse, Query extends TObject> {
  /** As in the path, such as `auto_subscriptions`. */
  things: string;
  tag: string;
  description: string;
  /** What is said besides of the caller's own list. */
  ofOwn?: string;
  /** The filters of both lists. */
  query?: Query;
  errors?: readonly ErrorCode[];
  response: Spec;
  /** One of the things. */
  example: unknown;
  read: (
    request: Pick<
      RouteRequest<Deps, unknown, Static<Query>, unknown, unknown>,
      "deps" | "owner" | "owners" | "query" | "page" | "seesSecrets"
    >,
  ) => Promise<ResponseResult<Spec>>;
}

/**
 * Returns a function that declares the two lists of what accounts own: that of the caller at `/users/me/<things>`, and that
 * of an organization at `/orgs/{org_id}/<things>`.
 */
export function accountListsFor<Deps>() {
  const route = routeFor<Deps>();
  return <Spec extends ListResponse | PageResponse, Query extends TObject = NoFields>(
    lists: AccountLists<Deps, Spec, Query>,
  ): AnyRoute<Deps>[] => {
    const { things, tag, description, ofOwn, query, errors, response, example, read } = lists;
    const words = things.replaceAll("_", " ");
    const name = words.replace(/(?:^| )(\w)/g, (_, letter: string) => letter.toUpperCase());
    const shared = {
      method: "GET",
      tag,
      ...(query && { query }),
      ...(errors && { errors }),
      response,
      handler: read,
    } as const;
    return [
      route({
        ...shared,
        path: `/users/me/${things}`,
        id: `listMy${name}`,
        summary: `List your ${words}`,
        description: ofOwn === undefined ? description : `${description} ${ofOwn}`,
        access: { kind: "owner" },
        example: { response: example },
      }),
      route({
        ...shared,
        path: `/orgs/{org_id}/${things}`,
        id: `listOrganization${name}`,
        summary: `List an organization's ${words}`,
        description,
        access: { kind: "member" },
        example: { params: { org_id: "o_0CjB8tYr3KpL7xVd" }, response: example },
      }),
    ];
  };
}

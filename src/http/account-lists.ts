import {
  type AnyRoute,
  type ListResponse,
  type PageResponse,
  type ResponseResult,
  type RouteRequest,
  routeFor,
} from "./route.ts";

interface AccountLists<Deps, Spec extends ListResponse | PageResponse> {
  /** As in the path, such as `auto_subscriptions`. */
  things: string;
  tag: string;
  description: string;
  /** What is said besides of the caller's own list. */
  ofOwn?: string;
  response: Spec;
  /** One of the things. */
  example: unknown;
  read: (
    request: Pick<
      RouteRequest<Deps, unknown, unknown, unknown, unknown>,
      "deps" | "owner" | "owners" | "page"
    >,
  ) => Promise<ResponseResult<Spec>>;
}

/**
 * Returns a function that declares the two lists of what accounts own: that of the caller at `/users/me/<things>`, and that
 * of an organization at `/orgs/{org_id}/<things>`.
 */
export function accountListsFor<Deps>() {
  const route = routeFor<Deps>();
  return <Spec extends ListResponse | PageResponse>(lists: AccountLists<Deps, Spec>): AnyRoute<Deps>[] => {
    const { things, tag, description, ofOwn, response, example, read } = lists;
    const words = things.replaceAll("_", " ");
    const name = words.replace(/(?:^| )(\w)/g, (_, letter: string) => letter.toUpperCase());
    const shared = { method: "GET", tag, response, handler: read } as const;
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

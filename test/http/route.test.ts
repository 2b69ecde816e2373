import { expect } from "chai";
import { Type } from "typebox";
import { type AnyRoute, accepted, data, empty, list, page, routeFor } from "../../src/http/route.ts";

interface Deps {
  greeting: string;
  other: number;
}

const Thing = Type.Object({ id: Type.String(), size: Type.Integer() });
const route = routeFor<Pick<Deps, "greeting">>();

/** The compiler is the test: each `@ts-expect-error` fails the type check if there is no error on its line. */
const declared: AnyRoute<Deps>[] = [
  route({
    method: "PUT",
    path: "/things/{id}",
    id: "updateThing",
    audit: null,
    tag: "Things",
    summary: "Update a thing",
    access: { kind: "resource", what: "thing", load: async (_deps, id) => ({ id, size: 3, hidden: true }) },
    query: Type.Object({ deep: Type.Optional(Type.Boolean()), limit: Type.Integer() }),
    body: Type.Object({ size: Type.Integer(), note: Type.Optional(Type.String()) }),
    response: data(200, Thing),
    async handler({ deps, params, query, body, resource }) {
      const greeting: string = deps.greeting;
      const id: string = params.id;
      const deep: boolean | undefined = query.deep;
      const size: number = body.size + resource.size + query.limit;
      const hidden: boolean = resource.hidden;
      // @ts-expect-error the route has not asked for this dependency
      deps.other;
      // @ts-expect-error there is no such parameter
      params.name;
      // @ts-expect-error a path parameter is a string
      const wrong: number = params.id;
      // @ts-expect-error there is no such body field
      body.other;
      return { id: `${greeting}${id}${deep}${hidden}${wrong}`, size };
    },
  }),
  route({
    method: "GET",
    path: "/orgs/{org_id}/things",
    id: "listThings",
    tag: "Things",
    summary: "List",
    access: { kind: "member" },
    response: list(200, Thing),
    // @ts-expect-error the size is missing
    handler: async ({ params }) => [{ id: params.org_id }],
  }),
  route({
    method: "GET",
    path: "/pages",
    id: "pageThings",
    tag: "Things",
    summary: "Page",
    access: { kind: "caller" },
    response: page(200, Thing),
    // @ts-expect-error a page is not an array
    handler: async () => [{ id: "1", size: 1 }],
  }),
  route({
    method: "DELETE",
    path: "/things",
    id: "deleteThings",
    audit: null,
    tag: "Things",
    summary: "Delete",
    access: { kind: "owner" },
    response: empty(),
    handler: async ({ resource }) => {
      const none: undefined = resource;
      return none;
    },
  }),
  route({
    method: "DELETE",
    path: "/things/events",
    id: "deleteEvents",
    audit: null,
    tag: "Things",
    summary: "Delete",
    access: { kind: "owner" },
    response: accepted(),
    handler: async () => {},
  }),
  route({
    method: "GET",
    path: "/wrong",
    id: "wrong",
    tag: "Things",
    summary: "Wrong",
    access: { kind: "owner" },
    response: data(200, Thing),
    // @ts-expect-error a string is not a thing
    handler: async () => "thing",
  }),
];

describe("http/route", () => {
  it("returns the declaration unchanged; the compiler checks its types", () => {
    const plain: AnyRoute[] = declared;
    expect(plain.map(one => one.id)).to.include.members(["updateThing", "listThings"]);
  });
});

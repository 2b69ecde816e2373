import { type Static, Type } from "typebox";
import { forOperators } from "../accounts/operators.ts";
import { INSTALLATION } from "../audit/record.ts";
import { data, routeFor } from "../http/route.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Connection } from "../models/connection.ts";
import type { Stores } from "../platform.ts";
import { connectionOfAny, openPrivateAddresses } from "./private-addresses.ts";

const route = routeFor<Stores>();

/** A connection of any account, as far as it concerns operators. */
const OpenedView = Type.Object(
  {
    id: Type.String({ description: "`apn_…`" }),
    owner_id: Type.String({ description: "The user or the organization that has it." }),
    app: Type.String(),
    name: Type.String(),
    private_addresses: Type.Array(Type.String(), {
      description: "Each `host:port`; an IPv6 address is in brackets.",
    }),
  },
  { title: "PrivateAddresses" },
);
type OpenedView = Static<typeof OpenedView>;

const present = ({ _id: id, owner_id, app, name, private_addresses = [] }: Connection): OpenedView => ({
  ...{ id, owner_id, app, name, private_addresses },
});

const example: OpenedView = {
  id: "apn_0CjBAGh8mTq4ZsWe",
  owner_id: "o_0CjB8tYqNm5RdKvC",
  app: "postgres",
  name: "Shop's database",
  private_addresses: ["10.0.0.5:5432"],
};
const params = { id: example.id };

/** What operators open to the code of a connection (docs/connections.md#private-addresses). */
export const privateAddressRoutes = [
  route({
    method: "GET",
    path: "/connections/{id}/private_addresses",
    id: "getPrivateAddresses",
    tag: "Connections",
    summary: "Get what is open to a connection of any account",
    description: "For operators: what code with this connection may connect to beside public addresses.",
    access: forOperators,
    response: data(200, OpenedView),
    errors: ["not-found"],
    example: { params, response: example },
    handler: async ({ deps, params: { id } }) => present(await connectionOfAny(deps, id)),
  }),
  route({
    method: "PUT",
    path: "/connections/{id}/private_addresses",
    id: "openPrivateAddresses",
    audit: "connection.addresses_opened",
    tag: "Connections",
    summary: "Open private addresses to a connection of any account",
    description:
      "For operators: code that has the connection as a prop may connect to these hosts and ports, and no other code. They " +
      "replace those that were open; none closes all. A name is resolved at each connection, and reaches private networks only.",
    access: forOperators,
    body: Type.Object({
      private_addresses: Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
        maxItems: LIMITS.privateAddresses.value,
        description: "Such as `10.0.0.5:5432`, `[fd00::5]:5432` or `db.internal:5432`.",
      }),
    }),
    response: data(200, OpenedView),
    errors: ["not-found", "conflict"],
    example: {
      params,
      body: { private_addresses: example.private_addresses },
      response: example,
    },
    handler: async ({ deps, params: { id }, body, changes }) => {
      const opened = await openPrivateAddresses(deps, id, body.private_addresses);
      const { owner_id: ownerId, name } = opened;
      changes({ id, name, ownerId, alsoOf: [INSTALLATION] });
      return present(opened);
    },
  }),
];

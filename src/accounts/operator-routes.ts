import { Type } from "typebox";
import { listEntries } from "../audit/entries.ts";
import { INSTALLATION } from "../audit/record.ts";
import { AuditEntryView, AuditFilter, exampleEntry } from "../audit/schema.ts";
import { data, page, routeFor } from "../http/route.ts";
import type { Stores } from "../platform.ts";
import { countAccountMade, forOperators } from "./operators.ts";
import { storeUser } from "./users.ts";

const route = routeFor<Stores>();

const Plan = Type.Union([Type.Literal("free"), Type.Literal("paid")], {
  description: "What the account may have (docs/limits.md).",
});

/** A new user with what can't be shown again. */
const CreatedUser = Type.Object(
  {
    id: Type.String({ description: "`u_…`" }),
    username: Type.String(),
    email: Type.String(),
    plan: Plan,
    created_at: Type.Integer({ description: "Unix seconds." }),
    api_key: Type.String({
      description: "`hw_…`, the user's first API key, with which a browser signs in, too; never shown again.",
    }),
  },
  { title: "CreatedUser" },
);

/** What operators do by the API, besides organizations for others (docs/rest-api.md#roles). */
export const operatorRoutes = [
  route({
    method: "POST",
    path: "/users",
    id: "createUser",
    audit: "user.created",
    tag: "Users",
    summary: "Create a user",
    description:
      "By an operator, whom `headwater user operator` makes one. Hand the `api_key` to the user: it is shown in this response " +
      "only. 409 if somebody has the address or the username.",
    access: forOperators,
    body: Type.Object({
      email: Type.String({ minLength: 3, maxLength: 254 }),
      username: Type.Optional(
        Type.String({ minLength: 1, maxLength: 100, description: "Unique; made of the address by default." }),
      ),
      plan: Type.Optional(Plan),
    }),
    response: data(201, CreatedUser),
    errors: ["conflict"],
    example: {
      body: { email: "bert@example.com" },
      response: {
        id: "u_0CjB8sZr5NqP9xTc",
        ...{ username: "bert-9xtc", email: "bert@example.com", plan: "free", created_at: 1_700_000_000 },
        api_key: "hw_0123456789ABCDEFGHIJKLMNOPQRSTUV",
      },
    },
    handler: async ({ deps, caller, body, changes }) => {
      changes({ alsoOf: [INSTALLATION] });
      await countAccountMade(deps, caller.userId);
      const { user, apiKey } = await storeUser(deps, body);
      const { _id, username, email, plan, created_at } = user;
      return { id: _id, username, email, plan, created_at, api_key: apiKey };
    },
  }),
  route({
    method: "GET",
    path: "/audit_log",
    id: "listInstallationAuditLog",
    tag: "Audit log",
    summary: "List the audit log of the installation",
    description:
      "For operators: what operators did by the command line, by the API and in the board of the queues, the newest first; kept for 90 days. " +
      "What concerns an account is in its own log, too.",
    access: forOperators,
    query: AuditFilter,
    response: page(200, AuditEntryView),
    example: { response: exampleEntry },
    handler: ({ deps, query, page: wanted }) => listEntries(deps, INSTALLATION, query, wanted),
  }),
];

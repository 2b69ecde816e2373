import { type Static, Type } from "typebox";
import { INSTALLATION } from "../audit/record.ts";
import { data, empty, routeFor } from "../http/route.ts";
import { AppError } from "../lib/errors.ts";
import { RoleSchema } from "../lib/roles.ts";
import type { Organization } from "../models/organization.ts";
import type { Stores } from "../platform.ts";
import { countAccountMade, isOperator } from "./operators.ts";
import {
  createOrganization,
  listMembers,
  MAX_NAME_CHARS,
  readMember,
  removeMember,
  renameOrganization,
} from "./organizations.ts";
import { setRole } from "./roles.ts";

const route = routeFor<Stores>();
const tag = "Organizations";

const OrganizationView = Type.Object(
  {
    id: Type.String({ description: "`o_…`" }),
    name: Type.String(),
    orgname: Type.String({ description: "Unique, made of the first name; it stays when that changes." }),
    email: Type.String({ description: "The address of its first owner." }),
    created_at: Type.Integer({ description: "Unix seconds." }),
  },
  { title: "Organization" },
);

const present = ({
  _id,
  name,
  orgname,
  email,
  created_at,
}: Organization): Static<typeof OrganizationView> => ({
  id: _id,
  ...{ name, orgname, email, created_at },
});

const MemberView = Type.Object(
  {
    id: Type.String({ description: "The user." }),
    username: Type.String(),
    email: Type.String(),
    role: RoleSchema,
    is_owner: Type.Boolean({ description: "True with the role `owner`." }),
    created_at: Type.Integer({ description: "Since when; Unix seconds." }),
  },
  { title: "Member" },
);

const Members = Type.Object({ members: Type.Array(MemberView) }, { title: "Members" });

const Name = Type.String({ minLength: 1, maxLength: MAX_NAME_CHARS });

const organization = {
  id: "o_0CjB8tYr3KpL7xVd",
  name: "Acme",
  orgname: "acme-l7xvd",
  email: "anna@example.com",
  created_at: 1_700_000_000,
};
const org_id = organization.id;
const member = {
  id: "u_0CjB8sXp1LmN4vYb",
  username: "anna",
  email: "anna@example.com",
  role: "owner" as const,
  is_owner: true,
  created_at: 1_700_000_000,
};

/** Organizations and their members. */
export const organizationRoutes = [
  route({
    method: "POST",
    path: "/orgs",
    id: "createOrganization",
    audit: "organization.created",
    tag,
    summary: "Create an organization",
    description:
      "You are its first owner; you may make as many as your plan allows (`limits.organizations`). An operator may name " +
      "another user as `owner_id`.",
    access: { kind: "caller" },
    body: Type.Object({
      name: Name,
      owner_id: Type.Optional(
        Type.String({ maxLength: 64, description: "For operators: the user who is its first owner." }),
      ),
    }),
    response: data(201, OrganizationView),
    errors: ["forbidden", "limit-reached", "not-found"],
    example: { body: { name: organization.name }, response: organization },
    handler: async ({ deps, caller: { userId }, body: { name, owner_id = userId }, changes }) => {
      const byOperator = await isOperator(deps, userId);
      if (owner_id !== userId && !byOperator) {
        throw new AppError("forbidden", "only an operator may make an organization for somebody else");
      }
      if (byOperator) {
        await countAccountMade(deps, userId);
        changes({ alsoOf: [INSTALLATION] });
      }
      const made = { name, ownerId: owner_id, ...(!byOperator && { createdBy: userId }) };
      return present(await createOrganization(deps, made));
    },
  }),
  route({
    method: "PUT",
    path: "/orgs/{org_id}",
    id: "updateOrganization",
    audit: "organization.updated",
    tag,
    summary: "Rename an organization",
    description: "By an owner. Its `orgname` stays.",
    access: { kind: "member" },
    role: "owner",
    body: Type.Object({ name: Name }),
    response: data(200, OrganizationView),
    example: { params: { org_id }, body: { name: organization.name }, response: organization },
    handler: async ({ deps, owner, body }) => present(await renameOrganization(deps, owner, body.name)),
  }),
  route({
    method: "GET",
    path: "/orgs/{org_id}/members",
    id: "listMembers",
    tag,
    summary: "List an organization's members",
    description: "In the order of their ids, each with its `role`.",
    access: { kind: "member" },
    response: data(200, Members),
    example: { params: { org_id }, response: { members: [member] } },
    handler: async ({ deps, owner }) => ({ members: await listMembers(deps, owner) }),
  }),
  route({
    method: "PUT",
    path: "/orgs/{org_id}/members/{user_id}",
    id: "updateMember",
    audit: "member.updated",
    tag,
    summary: "Give a member another role",
    description:
      "By an owner. It holds from the member's next request on. 409 for the last owner: an organization always has one.",
    access: { kind: "member" },
    role: "owner",
    body: Type.Object({ role: RoleSchema }),
    response: data(200, MemberView),
    errors: ["conflict", "not-found"],
    example: { params: { org_id, user_id: member.id }, body: { role: "owner" }, response: member },
    handler: async ({ deps, owner, params: { user_id }, caller, body: { role } }) => {
      await setRole(deps, { orgId: owner, userId: user_id, callerId: caller.userId, role });
      return await readMember(deps, owner, user_id);
    },
  }),
  route({
    method: "DELETE",
    path: "/orgs/{org_id}/members/{user_id}",
    id: "removeMember",
    audit: "member.removed",
    tag,
    summary: "Remove a member, or leave an organization",
    description: "Owners remove others; everybody may leave but the last owner, for whom it is 409.",
    access: { kind: "member" },
    role: "viewer",
    response: empty(204),
    errors: ["forbidden", "conflict", "not-found"],
    example: { params: { org_id, user_id: member.id } },
    handler: ({ deps, owner, params, caller, changes }) => {
      changes({ id: params.user_id });
      return removeMember(deps, { orgId: owner, userId: params.user_id, callerId: caller.userId });
    },
  }),
];

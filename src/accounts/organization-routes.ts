import { type Static, Type } from "typebox";
import { data, empty, page, routeFor } from "../http/route.ts";
import { unixSeconds } from "../lib/time.ts";
import type { Invitation } from "../models/organization.ts";
import type { Stores } from "../platform.ts";
import { mapPage } from "../store/page.ts";
import {
  acceptInvitation,
  declineInvitation,
  invite,
  listInvitations,
  listOwnInvitations,
  type NamedInvitation,
  ownInvitation,
  withdrawInvitation,
} from "./invitations.ts";
import { listMembers, removeMember } from "./organizations.ts";

const route = routeFor<Stores>();
const tag = "Organizations";

const Members = Type.Object(
  {
    members: Type.Array(
      Type.Object({
        id: Type.String({ description: "The user." }),
        username: Type.String(),
        email: Type.String(),
        is_owner: Type.Boolean(),
        created_at: Type.Integer({ description: "Since when; Unix seconds." }),
      }),
    ),
  },
  { title: "Members" },
);

const InvitationView = Type.Object(
  {
    id: Type.String({ description: "`inv_…`" }),
    org_id: Type.String(),
    org_name: Type.String(),
    email: Type.String(),
    created_at: Type.Integer({ description: "Unix seconds." }),
    expires_at: Type.Integer({ description: "Unix seconds." }),
  },
  { title: "Invitation" },
);

const present = (row: NamedInvitation): Static<typeof InvitationView> => ({
  id: row._id,
  org_id: row.org_id,
  org_name: row.org_name,
  email: row.email,
  created_at: row.created_at,
  expires_at: unixSeconds(row.expires_at.getTime()),
});

/** What becomes of an invitation is for the organization to know. */
const ofOrganization = ({ org_id, email }: Pick<Invitation, "org_id" | "email">) => ({
  ownerId: org_id,
  name: email,
});

const org_id = "o_0CjB8tYr3KpL7xVd";
const example = {
  id: "inv_0CjB8uZs4LqM8yWe",
  org_id,
  org_name: "Acme",
  email: "bert@example.com",
  created_at: 1_700_000_000,
  expires_at: 1_700_604_800,
};
const user = "u_0CjB8sXp1LmN4vYb";

/** Members of organizations, and invitations to become one. */
export const organizationRoutes = [
  route({
    method: "GET",
    path: "/orgs/{org_id}/members",
    id: "listMembers",
    tag,
    summary: "List an organization's members",
    description: "The first to join comes first; `is_owner` marks the owner.",
    access: { kind: "member" },
    response: data(200, Members),
    example: {
      params: { org_id },
      response: {
        members: [
          {
            id: user,
            username: "anna",
            email: "anna@example.com",
            is_owner: true,
            created_at: 1_700_000_000,
          },
        ],
      },
    },
    handler: async ({ deps, owner }) => ({ members: await listMembers(deps, owner) }),
  }),
  route({
    method: "DELETE",
    path: "/orgs/{org_id}/members/{user_id}",
    id: "removeMember",
    audit: "member.removed",
    tag,
    summary: "Remove a member, or leave an organization",
    description: "The owner removes others; everybody but the owner may leave.",
    access: { kind: "member" },
    response: empty(204),
    errors: ["forbidden", "conflict", "not-found"],
    example: { params: { org_id, user_id: user } },
    handler: ({ deps, owner, params, caller, changes }) => {
      changes({ id: params.user_id });
      return removeMember(deps, { orgId: owner, userId: params.user_id, callerId: caller.userId });
    },
  }),
  route({
    method: "POST",
    path: "/orgs/{org_id}/invitations",
    id: "createInvitation",
    audit: "invitation.created",
    tag,
    summary: "Invite a user to an organization",
    description:
      "By the owner. No mail is sent: the user with this address finds it in `GET /users/me/invitations`. The same " +
      "address again renews the invitation.",
    access: { kind: "member" },
    body: Type.Object({ email: Type.String({ minLength: 3, maxLength: 254 }) }),
    response: data(201, InvitationView),
    errors: ["forbidden", "conflict", "limit-reached"],
    example: { params: { org_id }, body: { email: example.email }, response: example },
    handler: async ({ deps, owner, caller, body: { email }, changes }) => {
      changes({ name: email });
      return present(await invite(deps, { orgId: owner, userId: caller.userId, email }));
    },
  }),
  route({
    method: "GET",
    path: "/orgs/{org_id}/invitations",
    id: "listInvitations",
    tag,
    summary: "List an organization's invitations",
    description: "Those that have been neither accepted nor declined.",
    access: { kind: "member" },
    response: page(200, InvitationView),
    example: { params: { org_id }, response: example },
    handler: async ({ deps, owner, page }) => mapPage(await listInvitations(deps, owner, page), present),
  }),
  route({
    method: "DELETE",
    path: "/orgs/{org_id}/invitations/{id}",
    id: "withdrawInvitation",
    audit: "invitation.withdrawn",
    tag,
    summary: "Take an invitation back",
    description: "By the owner.",
    access: { kind: "member" },
    response: empty(204),
    errors: ["forbidden", "not-found"],
    example: { params: { org_id, id: example.id } },
    handler: ({ deps, owner, caller, params: { id }, changes }) => {
      changes({ id });
      return withdrawInvitation(deps, { orgId: owner, userId: caller.userId, id });
    },
  }),
  route({
    method: "GET",
    path: "/users/me/invitations",
    id: "listMyInvitations",
    tag,
    summary: "List the invitations to you",
    description: "Those that you have neither accepted nor declined.",
    access: { kind: "caller" },
    response: page(200, InvitationView),
    example: { response: example },
    handler: async ({ deps, caller, page }) =>
      mapPage(await listOwnInvitations(deps, caller.userId, page), present),
  }),
  route({
    method: "POST",
    path: "/users/me/invitations/{id}/accept",
    id: "acceptInvitation",
    audit: "invitation.accepted",
    tag,
    summary: "Become a member of an organization",
    description: "You can use everything that the organization owns from then on.",
    access: ownInvitation,
    response: data(
      200,
      Type.Object({ id: Type.String(), name: Type.String() }, { title: "JoinedOrganization" }),
    ),
    errors: ["limit-reached"],
    example: { params: { id: example.id }, response: { id: org_id, name: "Acme" } },
    handler: ({ deps, resource, changes }) => {
      changes(ofOrganization(resource));
      return acceptInvitation(deps, resource);
    },
  }),
  route({
    method: "DELETE",
    path: "/users/me/invitations/{id}",
    id: "declineInvitation",
    audit: "invitation.declined",
    tag,
    summary: "Decline an invitation",
    description: "The invitation is deleted; the organization may send another one.",
    access: ownInvitation,
    response: empty(204),
    example: { params: { id: example.id } },
    handler: ({ deps, resource, changes }) => {
      changes(ofOrganization(resource));
      return declineInvitation(deps, resource);
    },
  }),
];

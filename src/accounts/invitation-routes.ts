import { type Static, Type } from "typebox";
import { data, empty, page, routeFor } from "../http/route.ts";
import { RoleSchema } from "../lib/roles.ts";
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
  roleOfInvitation,
  withdrawInvitation,
} from "./invitations.ts";

const route = routeFor<Stores>();
const tag = "Organizations";

const InvitationView = Type.Object(
  {
    id: Type.String({ description: "`inv_…`" }),
    org_id: Type.String(),
    org_name: Type.String(),
    email: Type.String(),
    role: RoleSchema,
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
  role: roleOfInvitation(row),
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
  role: "member" as const,
  created_at: 1_700_000_000,
  expires_at: 1_700_604_800,
};

/** Invitations to become a member of an organization. */
export const invitationRoutes = [
  route({
    method: "POST",
    path: "/orgs/{org_id}/invitations",
    id: "createInvitation",
    audit: "invitation.created",
    tag,
    summary: "Invite a user to an organization",
    description:
      "By an owner. No mail is sent: the user with this address finds it in `GET /users/me/invitations`. The same " +
      "address again renews the invitation, with this `role`: `member` if there is none.",
    access: { kind: "member" },
    role: "owner",
    body: Type.Object({
      email: Type.String({ minLength: 3, maxLength: 254 }),
      role: Type.Optional(RoleSchema),
    }),
    response: data(201, InvitationView),
    errors: ["conflict", "limit-reached"],
    example: { params: { org_id }, body: { email: example.email, role: example.role }, response: example },
    handler: async ({ deps, owner, caller, body: { email, role = "member" }, changes }) => {
      changes({ name: email });
      return present(await invite(deps, { orgId: owner, userId: caller.userId, email, role }));
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
    description: "By an owner.",
    access: { kind: "member" },
    role: "owner",
    response: empty(204),
    errors: ["not-found"],
    example: { params: { org_id, id: example.id } },
    handler: ({ deps, owner, params: { id }, changes }) => {
      changes({ id });
      return withdrawInvitation(deps, { orgId: owner, id });
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
    description:
      "You can use what the organization owns from then on, as far as the `role` of the invitation goes.",
    access: ownInvitation,
    response: data(
      200,
      Type.Object(
        { id: Type.String(), name: Type.String(), role: RoleSchema },
        { title: "JoinedOrganization" },
      ),
    ),
    errors: ["limit-reached"],
    example: { params: { id: example.id }, response: { id: org_id, name: "Acme", role: "member" } },
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

import { AppError, invalidField, notFound } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import type { Role } from "../lib/roles.ts";
import { unixSeconds } from "../lib/time.ts";
import { LIMITS } from "../limits/catalogue.ts";
import {
  type Invitation,
  Invitations,
  Memberships,
  membershipId,
  Organizations,
} from "../models/organization.ts";
import { Users } from "../models/user.ts";
import type { Stores } from "../platform.ts";
import { type Page, type PageRequest, pageOf } from "../store/page.ts";
import { addMember } from "./organizations.ts";

/** An invitation with the name of its organization. */
export interface NamedInvitation extends Invitation {
  org_name: string;
}

const live = ({ clock }: Stores) => ({ expires_at: { $gt: new Date(clock()) } });
const open = (platform: Stores) => ({ ...live(platform), accepted_at: null });

/** What the user of an invitation becomes. */
export const roleOfInvitation = ({ role }: Invitation): Role => role ?? "member";

/**
 * Invites the user with an email address, now or later, to an organization, by an owner; the same address again gets the same invitation,
 * for another while and with this role. Throws `invalid` for the address, `conflict` if its user is a member, and
 * `limit-reached`.
 */
export async function invite(
  platform: Stores,
  { orgId, userId, email: given, role }: { orgId: string; userId: string; email: string; role: Role },
): Promise<NamedInvitation> {
  const email = given.toLowerCase();
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw invalidField("body", "email", "must be an email address");
  const user = await Users(platform.mongo).findOne({ email }, { _id: 1 }).lean();
  if (user && (await Memberships(platform.mongo).exists({ _id: membershipId(orgId, user._id) }))) {
    throw new AppError("conflict", "this user is a member already");
  }
  const invitations = Invitations(platform.mongo);
  const most = LIMITS.invitations.value;
  const isNew = !(await invitations.exists({ org_id: orgId, email }));
  if (isNew && (await invitations.countDocuments({ org_id: orgId }, { limit: most })) >= most) {
    throw new AppError("limit-reached", `an organization has at most ${most} invitations`);
  }
  const invitation = await invitations
    .findOneAndUpdate(
      { org_id: orgId, email },
      {
        $set: {
          expires_at: new Date(platform.clock() + LIMITS.invitationMs.value),
          invited_by: userId,
          role,
          accepted_at: null,
        },
        $setOnInsert: { _id: newId("inv", platform.clock()), created_at: unixSeconds(platform.clock()) },
      },
      { upsert: true, returnDocument: "after" },
    )
    .lean<Invitation>();
  const [named] = await withNames(platform, [invitation as Invitation]);
  return named as NamedInvitation;
}

/** Returns a page of an organization's invitations, newest first. */
export async function listInvitations(
  platform: Stores,
  orgId: string,
  page: PageRequest,
): Promise<Page<NamedInvitation>> {
  const found = await pageOf(Invitations(platform.mongo), { org_id: orgId, ...open(platform) }, page);
  return { ...found, rows: await withNames(platform, found.rows) };
}

/** Returns a page of the invitations to a user's email address, newest first. */
export async function listOwnInvitations(
  platform: Stores,
  userId: string,
  page: PageRequest,
): Promise<Page<NamedInvitation>> {
  const user = await Users(platform.mongo).findById(userId, { email: 1 }).lean();
  const filter = { email: user?.email ?? "", ...open(platform) };
  const found = await pageOf(Invitations(platform.mongo), filter, page);
  return { ...found, rows: await withNames(platform, found.rows) };
}

/** Returns how many invitations to an email address are open; counting ends at a page of them. */
export function countOwnInvitations(platform: Stores, email: string): Promise<number> {
  const limit = LIMITS.pageRows.value;
  return Invitations(platform.mongo).countDocuments({ email, ...open(platform) }, { limit });
}

async function withNames({ mongo }: Stores, rows: Invitation[]): Promise<NamedInvitation[]> {
  const organizations = await Organizations(mongo)
    .find({ _id: { $in: rows.map(({ org_id }) => org_id) } }, { name: 1 })
    .lean();
  const names = new Map(organizations.map(({ _id, name }) => [_id, name]));
  return rows.map(row => ({ ...row, org_name: names.get(row.org_id) ?? "" }));
}

/** Takes an organization's invitation back. Throws `not-found`. */
export async function withdrawInvitation(
  { mongo }: Stores,
  { orgId, id }: { orgId: string; id: string },
): Promise<void> {
  const { deletedCount } = await Invitations(mongo).deleteOne({ _id: id, org_id: orgId });
  if (deletedCount === 0) throw notFound("invitation");
}

/**
 * Makes the invited user a member, in the role of the invitation; repeated, it changes nothing, so that a member who was removed stays so. Throws
 * `limit-reached` if the organization has as many members as it may.
 */
export async function acceptInvitation(
  platform: Stores,
  invitation: OwnInvitation,
): Promise<{ id: string; name: string; role: Role }> {
  const { _id, org_id, user_id, accepted_at } = invitation;
  const role = roleOfInvitation(invitation);
  if (!accepted_at) {
    const most = LIMITS.members.value;
    if ((await Memberships(platform.mongo).countDocuments({ org_id }, { limit: most })) >= most) {
      throw new AppError("limit-reached", `an organization has at most ${most} members`);
    }
    await addMember(platform, org_id, user_id, role);
    await Invitations(platform.mongo).updateOne(
      { _id },
      { $set: { accepted_at: unixSeconds(platform.clock()) } },
    );
  }
  const organization = await Organizations(platform.mongo).findById(org_id, { name: 1 }).lean();
  return { id: org_id, name: organization?.name ?? "", role };
}

/** Removes an invitation that its user does not want. */
export async function declineInvitation({ mongo }: Stores, { _id }: OwnInvitation): Promise<void> {
  await Invitations(mongo).deleteOne({ _id });
}

/** An invitation with the user that it is for. */
interface OwnInvitation extends Invitation {
  user_id: string;
}

async function findOwnInvitation(
  platform: Stores,
  id: string,
  owners: string[],
): Promise<OwnInvitation | null> {
  const invitation = await Invitations(platform.mongo)
    .findOne({ _id: id, ...live(platform) })
    .lean<Invitation | null>();
  if (!invitation) return null;
  const user = await Users(platform.mongo)
    .findOne({ _id: { $in: owners }, email: invitation.email }, { _id: 1 })
    .lean();
  return user ? { ...invitation, user_id: user._id } : null;
}

/** The access rule of routes whose path names an invitation to the caller. */
export const ownInvitation = { kind: "resource", what: "invitation", load: findOwnInvitation } as const;

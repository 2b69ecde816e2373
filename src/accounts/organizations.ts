import { invalidField, notFound } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { Memberships, Organizations } from "../models/organization.ts";
import { Users } from "../models/user.ts";
import type { Platform } from "../platform.ts";
import { isDuplicateKey, transaction } from "../store/mongo.ts";

type Deps = Pick<Platform, "mongo" | "clock">;

const slug = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");

const LONGEST_NAME = 128;

/** Creates an organization with its owner as first member. Throws `invalid` for the name, `not-found` for the owner. */
export async function createOrganization(
  platform: Deps,
  { name, ownerId }: { name: string; ownerId: string },
): Promise<{ id: string }> {
  if (name.trim() === "" || name.length > LONGEST_NAME) {
    throw invalidField("body", "name", `must be 1 to ${LONGEST_NAME} characters`);
  }
  const owner = await Users(platform.mongo).findById(ownerId).lean();
  if (!owner) throw notFound("owner");
  const id = newId("o", platform.clock());
  const created_at = Math.floor(platform.clock() / 1000);
  const orgname = `${slug(name) || "org"}-${id.slice(-6).toLowerCase()}`;
  await transaction(platform.mongo, async session => {
    await Organizations(platform.mongo).insertOne(
      { _id: id, name, orgname, email: owner.email, owner_id: ownerId, created_at },
      { session },
    );
    await Memberships(platform.mongo).insertOne(
      { _id: `${id}-${ownerId}`, org_id: id, user_id: ownerId, created_at },
      { session },
    );
  });
  return { id };
}

/** Makes a user a member; once more changes nothing. Throws `not-found` for either. */
export async function addMember(
  platform: Deps & Pick<Platform, "routing">,
  orgId: string,
  userId: string,
): Promise<{ id: string; user_id: string }> {
  const [org, user] = await Promise.all([
    Organizations(platform.mongo).exists({ _id: orgId }),
    Users(platform.mongo).exists({ _id: userId }),
  ]);
  if (!org) throw notFound("organization");
  if (!user) throw notFound("user");
  try {
    await Memberships(platform.mongo).insertOne({
      _id: `${orgId}-${userId}`,
      org_id: orgId,
      user_id: userId,
      created_at: Math.floor(platform.clock() / 1000),
    });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
  await platform.routing.invalidate();
  return { id: orgId, user_id: userId };
}

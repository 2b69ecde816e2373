import { invalidField, notFound } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { unixSeconds } from "../lib/time.ts";
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

const MAX_NAME_CHARS = 128;

/**
 * Creates an organization with its owner as the first member. Throws `invalid` for the name, `not-found` for the owner.
 */
export async function createOrganization(
  platform: Deps & Pick<Platform, "routing">,
  { name, ownerId }: { name: string; ownerId: string },
): Promise<{ id: string }> {
  if (name.trim() === "" || name.length > MAX_NAME_CHARS) {
    throw invalidField("body", "name", `must have 1 to ${MAX_NAME_CHARS} characters`);
  }
  const owner = await Users(platform.mongo).findById(ownerId).lean();
  if (!owner) throw notFound("owner");
  const id = newId("o", platform.clock());
  const created_at = unixSeconds(platform.clock());
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
  await platform.routing.invalidate([ownerId]);
  return { id };
}

/** Adds a user to an organization; no effect if the user is already a member. Throws `not-found` for either. */
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
      created_at: unixSeconds(platform.clock()),
    });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
  await platform.routing.invalidate([orgId, userId]);
  return { id: orgId, user_id: userId };
}

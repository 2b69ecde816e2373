import { unixSeconds } from "../../lib/time.ts";
import { Identities, type Identity, identityId } from "../../models/identity.ts";
import { Sessions } from "../../models/session.ts";
import { Users } from "../../models/user.ts";
import type { Claims } from "../../openid/provider.ts";
import { mayEnter, organizationsFor, type SignInRules, verifiedEmail } from "../../openid/rules.ts";
import type { Platform } from "../../platform.ts";
import { isDuplicateKey, transaction } from "../../store/mongo.ts";
import { revokeProviderKeys } from "../api-keys.ts";
import { newUser } from "../users.ts";
import { applyOrganizations } from "./apply-organizations.ts";
import { NotLetIn } from "./sign-in-problem.ts";

type Deps = Pick<Platform, "mongo" | "clock" | "routing" | "log">;

/** What the operator decided about people whom the provider vouches for. */
export interface Admission {
  rules: SignInRules;
  /** Whether people whom a rule lets in, and who have no account, get one. */
  createsAccounts: boolean;
  /** Whether an account that exists is linked to the person who has its verified email address. */
  linksAccounts: boolean;
}

/**
 * Returns the user that a person is, with the organizations that the rules give. A person is known by issuer and subject:
 * an email address may change, and may later be another's. The rules hold at each sign-in; a known person whom they no
 * longer let in loses what they gave. Throws NotLetIn.
 */
export async function findUser(platform: Deps, claims: Claims, admission: Admission): Promise<string> {
  const { rules } = admission;
  const email = verifiedEmail(claims);
  const known = await findIdentity(platform, claims);
  if (email === null || !mayEnter(rules, claims, email)) {
    if (known) await withdrawAccess(platform, known.user_id);
    throw new NotLetIn(email === null ? "not-verified" : "not-allowed");
  }
  const userId = known?.user_id ?? (await admit(platform, claims, { email, admission }));
  await applyOrganizations(platform, userId, organizationsFor(rules, claims, email));
  return userId;
}

async function findIdentity(
  { mongo }: Pick<Deps, "mongo">,
  { issuer, subject }: Claims,
): Promise<Identity | null> {
  return await Identities(mongo).findById(identityId(issuer, subject)).lean<Identity | null>();
}

/** Returns the user of somebody who signs in for the first time: an account that exists, or a new one. */
async function admit(
  platform: Deps,
  claims: Claims,
  { email, admission }: { email: string; admission: Admission },
): Promise<string> {
  const existing = await Users(platform.mongo).findOne({ email }, { _id: 1 }).lean();
  try {
    if (!existing) return await createAccount(platform, claims, { email, admission });
    if (admission.linksAccounts) {
      await Identities(platform.mongo).insertOne(newIdentity(platform, claims, existing._id));
      return existing._id;
    }
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
  // Another tab was faster; or the account is not linked, or to the person of this provider who had the address before.
  const known = await findIdentity(platform, claims);
  if (!known) throw new NotLetIn("account-exists");
  return known.user_id;
}

async function createAccount(
  platform: Deps,
  claims: Claims,
  { email, admission }: { email: string; admission: Admission },
): Promise<string> {
  if (!admission.createsAccounts) throw new NotLetIn("no-account");
  const user = newUser(platform, { email });
  await transaction(platform.mongo, async session => {
    await Users(platform.mongo).insertOne(user, { session });
    await Identities(platform.mongo).insertOne(newIdentity(platform, claims, user._id), { session });
  });
  return user._id;
}

const newIdentity = (
  { clock }: Pick<Deps, "clock">,
  { issuer, subject }: Claims,
  userId: string,
): Identity => ({
  _id: identityId(issuer, subject),
  issuer,
  subject,
  user_id: userId,
  created_at: unixSeconds(clock()),
});

/**
 * Ends what the provider's word gave a user: sessions, the API keys that were made in them, and memberships. What was given by
 * people stays.
 */
export async function withdrawAccess(
  platform: Pick<Platform, "mongo" | "clock" | "routing" | "log">,
  userId: string,
): Promise<void> {
  await Sessions(platform.mongo).deleteMany({ user_id: userId, key_id: null });
  await revokeProviderKeys(platform, userId);
  await applyOrganizations(platform, userId, []);
  await platform.routing.invalidate([userId]);
}

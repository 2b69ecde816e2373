import { recordOwnAction } from "../../audit/record.ts";
import { unixSeconds } from "../../lib/time.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { Memberships, membershipId, Organizations } from "../../models/organization.ts";
import { Sessions } from "../../models/session.ts";
import { Identities, type Identity, identityId, Users } from "../../models/user.ts";
import type { OpenIdFault } from "../../openid/openid-error.ts";
import type { Claims } from "../../openid/provider.ts";
import { mayEnter, organizationsFor, type SignInRules, verifiedEmail } from "../../openid/rules.ts";
import type { Stores } from "../../platform.ts";
import { isDuplicateKey, transaction } from "../../store/connections/mongo.ts";
import { revokeProviderKeys } from "../api-keys.ts";
import { endByRule } from "../roles.ts";
import { newUser } from "../users.ts";

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
export async function findUser(platform: Stores, claims: Claims, admission: Admission): Promise<string> {
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

async function findIdentity({ mongo }: Stores, { issuer, subject }: Claims): Promise<Identity | null> {
  return await Identities(mongo).findById(identityId(issuer, subject)).lean<Identity | null>();
}

/** Returns the user of somebody who signs in for the first time: an account that exists, or a new one. */
async function admit(
  platform: Stores,
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
  platform: Stores,
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

const newIdentity = ({ clock }: Stores, { issuer, subject }: Claims, userId: string): Identity => ({
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
export async function withdrawAccess(platform: Stores, userId: string): Promise<void> {
  const { deletedCount: ended } = await Sessions(platform.mongo).deleteMany({
    user_id: userId,
    key_id: null,
  });
  const revoked = await revokeProviderKeys(platform, userId);
  await applyOrganizations(platform, userId, []);
  await platform.routing.invalidate([userId]);
  if (ended + revoked === 0) return;
  await recordOwnAction(platform, {
    ...{ ownerId: userId, action: "user.access_withdrawn", thing: { id: userId, name: null } },
    reason: "the rules for people of the OpenID provider no longer let the user in",
  });
}

/**
 * Makes a user a member of the organizations that the rules give, and ends memberships that rules gave and give no longer.
 * Memberships of other origin stay. A rule for an organization that is absent or full is logged, and stops no sign-in.
 */
async function applyOrganizations(platform: Stores, userId: string, orgIds: string[]): Promise<void> {
  const { mongo, routing } = platform;
  const current = await Memberships(mongo).find({ user_id: userId }).lean();
  const lost = current.filter(({ by_rule, org_id }) => by_rule && !orgIds.includes(org_id));
  const missing = orgIds.filter(id => !current.some(({ org_id }) => org_id === id));
  for (const membership of lost) {
    await endByRule(platform, membership);
    await recordMembership(platform, userId, membership.org_id, "member.removed");
  }
  for (const orgId of missing) await join(platform, userId, orgId);
  const changed = [...lost.map(({ org_id }) => org_id), ...missing];
  if (changed.length > 0) await routing.invalidate([userId, ...changed]);
}

/** Who belongs to it is for the organization to know. */
const recordMembership = (platform: Stores, userId: string, orgId: string, action: string) =>
  recordOwnAction(platform, {
    ...{ ownerId: orgId, action, thing: { id: userId, name: null } },
    reason: "a rule for people of the OpenID provider says so",
  });

async function join(platform: Stores, userId: string, orgId: string): Promise<void> {
  const { mongo, clock, log } = platform;
  const most = LIMITS.members.value;
  const exists = await Organizations(mongo).exists({ _id: orgId });
  if (!exists || (await Memberships(mongo).countDocuments({ org_id: orgId }, { limit: most })) >= most) {
    log.warn({ org_id: orgId }, `OIDC_ALLOW: the organization ${exists ? "is full" : "does not exist"}`);
    return;
  }
  try {
    const created_at = unixSeconds(clock());
    await Memberships(mongo).insertOne({
      ...{ _id: membershipId(orgId, userId), org_id: orgId, user_id: userId },
      ...{ role: "member", created_at, by_rule: true },
    });
    await recordMembership(platform, userId, orgId, "member.joined");
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
}

/** Why a return from the provider started no session; the sign-in page has a sentence for each. */
export const SIGN_IN_PROBLEMS = [
  "cancelled",
  "provider-away",
  "provider-error",
  "not-proven",
  /** Another browser's or another sign-in's return, a repeated one, or a late one. */
  "not-yours",
  /** The provider has not verified the email address. */
  "not-verified",
  /** No rule of the operator lets this person in. */
  "not-allowed",
  /** There is no account, and none is made. */
  "no-account",
  /** There is an account with this email address that is not linked. */
  "account-exists",
  "too-many",
  "unavailable",
] as const satisfies readonly (OpenIdFault | string)[];

export type SignInProblem = (typeof SIGN_IN_PROBLEMS)[number];

/** A person whom the provider vouches for, and who is not let in all the same. */
export class NotLetIn extends Error {
  readonly problem: SignInProblem;

  constructor(problem: SignInProblem) {
    super(problem);
    this.name = "NotLetIn";
    this.problem = problem;
  }
}

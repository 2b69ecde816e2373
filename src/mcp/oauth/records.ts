import type { Adapter, AdapterPayload } from "oidc-provider";
import { revokeApiKey, stillValid } from "../../accounts/api-keys.ts";
import { recordOwnAction } from "../../audit/record.ts";
import { AppError } from "../../lib/errors.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { type OAuthKind, type OAuthRecord, OAuthRecords, oauthRecordId } from "../../models/oauth-record.ts";
import { ApiKeys } from "../../models/user.ts";
import type { Stores } from "../../platform.ts";

const KINDS: ReadonlySet<string> = new Set<OAuthKind>([
  "AccessToken",
  "AuthorizationCode",
  "Client",
  "Grant",
  "Interaction",
  "RefreshToken",
]);

/**
 * Returns what keeps the records of the library in MongoDB. Kinds that are not listed are kept nowhere, the library's own sessions among
 * them: each consent is asked for by itself, of who is signed in to the dashboard then. `usedTwice` makes the error for a code or a refresh
 * token that is used again.
 */
export const recordsOf =
  (platform: Stores, usedTwice: () => Error) =>
  (name: string): Adapter =>
    KINDS.has(name) ? new Records(platform, name as OAuthKind, usedTwice) : KEPT_NOWHERE;

const nothing = async () => undefined;
const KEPT_NOWHERE: Adapter = {
  upsert: nothing,
  find: nothing,
  findByUserCode: nothing,
  findByUid: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing,
};

class Records implements Adapter {
  readonly #platform: Stores;
  readonly #kind: OAuthKind;
  readonly #usedTwice: () => Error;

  constructor(platform: Stores, kind: OAuthKind, usedTwice: () => Error) {
    this.#platform = platform;
    this.#kind = kind;
    this.#usedTwice = usedTwice;
  }

  async upsert(id: string, { jti: _, ...payload }: AdapterPayload, expiresInS = 0): Promise<void> {
    const { grantId, accountId } = payload;
    const record = {
      ...(grantId !== undefined && { key_id: grantId }),
      ...(accountId !== undefined && { user_id: accountId }),
      payload: JSON.stringify(payload),
      expires_at: new Date(this.#platform.clock() + expiresInS * 1000),
    };
    await this.#all().updateOne({ _id: this.#id(id) }, { $set: record }, { upsert: true });
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const found = await this.#all().findById(this.#id(id)).lean<OAuthRecord | null>();
    if (!found || found.expires_at.getTime() <= this.#platform.clock()) return undefined;
    const keyId = this.#kind === "Grant" ? id : found.key_id;
    if (keyId !== undefined && !(await this.#isValid(keyId))) return undefined;
    return {
      ...(JSON.parse(found.payload) as AdapterPayload),
      ...(this.#kind !== "Client" && { jti: id }),
      ...(found.used_at_ms !== undefined && { consumed: Math.floor(found.used_at_ms / 1000) }),
    };
  }

  /** All that rests on a consent ends with its API key, and with the user. */
  async #isValid(keyId: string): Promise<boolean> {
    const valid = { _id: keyId, kind: "oauth" as const, ...stillValid(this.#platform) };
    return (await ApiKeys(this.#platform.mongo).exists(valid)) !== null;
  }

  /** In one step, so that of two requests with the same code or refresh token one gets nothing. */
  async consume(id: string): Promise<void> {
    const { modifiedCount } = await this.#all().updateOne(
      { _id: this.#id(id), used_at_ms: null },
      { $set: { used_at_ms: this.#platform.clock() } },
    );
    if (modifiedCount === 0) throw this.#usedTwice();
  }

  async destroy(id: string): Promise<void> {
    if (this.#kind === "Grant") await this.#endGrant(id);
    const found = await this.#all()
      .findOneAndDelete({ _id: this.#id(id) })
      .lean<OAuthRecord | null>();
    if (this.#kind === "AccessToken" && found?.user_id)
      await this.#platform.routing.invalidate([found.user_id]);
  }

  /** A host that gives its tokens back, or a token that was used twice, ends the API key of the consent. */
  async #endGrant(keyId: string): Promise<void> {
    const key = await ApiKeys(this.#platform.mongo).findOne({ _id: keyId, revoked_at: null }).lean();
    if (!key) return;
    try {
      await revokeApiKey(this.#platform, keyId);
    } catch (error) {
      if (error instanceof AppError && error.code === "not-found") return;
      throw error;
    }
    await recordOwnAction(this.#platform, {
      ownerId: key.user_id,
      action: "api_key.revoked",
      thing: { id: keyId, name: key.name ?? null },
      reason: "its host gave its tokens back, or used one twice",
    });
  }

  async revokeByGrantId(keyId: string): Promise<void> {
    await this.#all().deleteMany({ key_id: keyId });
  }

  /** For the sign-in by codes of devices, which is off. */
  findByUserCode = nothing;
  /** For the library's own sessions, which are kept nowhere. */
  findByUid = nothing;

  #id(id: string): string {
    return oauthRecordId(this.#kind, id);
  }

  #all() {
    return OAuthRecords(this.#platform.mongo);
  }
}

/** Stores a client that registered itself. It is deleted if no user lets it in soon, and sooner if very many register. */
export async function storeClient(
  { mongo, clock }: Stores,
  clientId: string,
  metadata: Record<string, unknown>,
): Promise<void> {
  const records = OAuthRecords(mongo);
  await records.insertOne({
    _id: oauthRecordId("Client", clientId),
    payload: JSON.stringify(metadata),
    unused_since_ms: clock(),
    expires_at: new Date(clock() + LIMITS.oauthUnusedClientMs.value),
  });
  const excess = await records
    .find({ unused_since_ms: { $gt: 0 } }, { _id: 1 })
    .sort({ unused_since_ms: -1 })
    .skip(LIMITS.oauthUnusedClients.value)
    .limit(LIMITS.oauthUnusedClients.value)
    .lean();
  if (excess.length > 0) {
    // One that a user lets in right now is no longer among them.
    await records.deleteMany({ _id: { $in: excess.map(({ _id }) => _id) }, unused_since_ms: { $gt: 0 } });
  }
}

/** Throws `rate-limited` if as many requests wait for their users as may be: each is stored before anybody has signed in. */
export async function checkWaiting({ mongo }: Stores): Promise<void> {
  const most = LIMITS.oauthRequestsWaiting.value;
  // The ids of one kind, in the order of the index.
  const waiting = await OAuthRecords(mongo).countDocuments(
    { _id: { $gte: "Interaction:", $lt: "Interaction;" } },
    { limit: most },
  );
  if (waiting < most) return;
  throw new AppError("rate-limited", "too many requests of agents' hosts wait for their users", {
    retryAfterMs: 60_000,
  });
}

/** Keeps a client that a user lets in for as long as that may last. One that is known by its metadata document has no record. */
export async function keepClient({ mongo, clock }: Stores, clientId: string): Promise<void> {
  await OAuthRecords(mongo).updateOne(
    { _id: oauthRecordId("Client", clientId) },
    {
      $set: { expires_at: new Date(clock() + LIMITS.oauthGrantMs.value) },
      $unset: { unused_since_ms: 1 },
    },
  );
}

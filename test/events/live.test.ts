import type { Readable } from "node:stream";
import { expect } from "chai";
import { revokeApiKey } from "../../src/accounts/api-keys.ts";
import { addMember, createOrganization } from "../../src/accounts/organizations.ts";
import { createUser } from "../../src/accounts/users.ts";
import { watchEvents } from "../../src/events/live.ts";
import { newId } from "../../src/lib/ids.ts";
import { Memberships } from "../../src/models/organization.ts";
import { Sources } from "../../src/models/source.ts";
import { ApiKeys } from "../../src/models/user.ts";
import { whyStreamEnded } from "../../src/sources/event-routes.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";

describe("an open stream of events", () => {
  let platform: TestPlatform;
  let users = 0;
  before(async () => {
    platform = await openTestPlatform({}, { process: "web" });
  });
  after(() => platform.destroy());

  async function newUser() {
    users += 1;
    const { id } = await createUser(platform, { email: `u${users}@example.test` });
    const key = await ApiKeys(platform.mongo).findOne({ user_id: id }).lean();
    return { id, keyId: key?._id ?? "" };
  }

  /** Opens a stream that a member of an organization watches, of a source of the organization. */
  async function watch(): Promise<{
    text: string;
    isOpen: boolean;
    ids: Record<"key" | "org" | "user" | "source", string>;
  }> {
    const [owner, member] = [await newUser(), await newUser()];
    const { id: org } = await createOrganization(platform, { name: "Org", ownerId: owner.id });
    await addMember(platform, org, member.id);
    const source = newId("dc");
    await Sources(platform.mongo).collection.insertOne({
      _id: source,
      owner_id: org,
      state: "ready",
    } as never);
    const stream: Readable = await watchEvents(platform, source, {
      lastEventId: null,
      userId: member.keyId,
      whyEnded: () => whyStreamEnded(platform, member.keyId, { _id: source, owner_id: org }),
      heartbeatMs: 20,
    });
    const seen = { text: "", isOpen: true, ids: { key: member.keyId, org, user: member.id, source } };
    stream.setEncoding("utf8").on("data", chunk => {
      seen.text += chunk;
    });
    stream.once("close", () => {
      seen.isOpen = false;
    });
    await until(() => seen.text.split(": heartbeat").length > 3);
    return seen;
  }

  const endings: [string, string, (ids: Awaited<ReturnType<typeof watch>>["ids"]) => Promise<unknown>][] = [
    ["its key is revoked", "key-revoked", ids => revokeApiKey(platform, ids.key)],
    [
      "its key expires",
      "key-expired",
      ids => ApiKeys(platform.mongo).updateOne({ _id: ids.key }, { $set: { expires_at: 1 } }),
    ],
    [
      "its caller's membership ends",
      "access-lost",
      ids => Memberships(platform.mongo).deleteOne({ _id: `${ids.org}-${ids.user}` }),
    ],
    [
      "its source is deleted",
      "source-deleted",
      ids => Sources(platform.mongo).deleteOne({ _id: ids.source }),
    ],
  ];
  for (const [what, reason, begin] of endings) {
    it(`ends with the reason ${reason} when ${what}`, async () => {
      const [seen, other] = [await watch(), await watch()];
      await begin(seen.ids);
      await until(() => !seen.isOpen, { what: "the end" });
      expect(
        seen.text.endsWith(`event: end\ndata: {"reason":"${reason}"}\n\n`),
        seen.text.slice(-200),
      ).to.equal(true);
      const beats = other.text.length;
      await until(() => other.text.length > beats);
      expect(other.isOpen).to.equal(true);
      await revokeApiKey(platform, other.ids.key);
      await until(() => !other.isOpen);
    });
  }
});

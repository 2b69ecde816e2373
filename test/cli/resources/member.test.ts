// runs-long: npm test has test/accounts, and test/cli/resources/subscription.test.ts

import { expect } from "chai";
import type { Api } from "../../support/api.ts";
import { type System, startSystem } from "../../support/system.ts";
import { commandsWith } from "../command.ts";

describe("headwater member and headwater invitation", () => {
  let system: System;
  let anna: Api & { userId: string };
  let bert: Api & { userId: string };
  let org: string;
  before(async () => {
    system = await startSystem({}, { workers: false });
    [anna, bert] = [await system.user(), await system.user()];
    org = await system.organization(anna.userId);
  });
  after(() => system.stop());

  const envOf = (api: Api) => ({ HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey });
  const asAnna = commandsWith(() => envOf(anna));
  const asBert = commandsWith(() => envOf(bert));

  it("invite, accept, decline, give roles and end memberships", async () => {
    const { email, username } = await bert.expect(200, "GET", "/users/me");
    const inOrg = ["--org", org];
    const invite = () => asAnna.printed("member", "invite", email, "--role", "viewer", ...inOrg);
    expect(await invite()).to.match(new RegExp(`^${email} is invited as viewer, until 20\\S+Z\\.\n$`));
    const [{ id: declined }] = await asBert.json("invitation", "list");
    expect(await asBert.printed("invitation", "decline", declined)).to.equal(`${declined} is declined.\n`);
    await invite();
    expect(await asBert.printed("invitation", "list")).to.match(/^inv_\S+ +Org +viewer +20\S+Z$/m);
    const [{ id }] = await asBert.json("invitation", "list");
    expect(await asBert.printed("invitation", "accept", id)).to.equal("You are viewer of Org.\n");

    const denied = await asBert.failure("webhook", "create", "http://127.0.0.1:1/", ...inOrg);
    expect(denied).to.include("this needs the role member in the organization");
    const changed = await asAnna.printed("member", "set-role", email, "member", ...inOrg);
    expect(changed).to.equal(`${username} is member.\n`);
    expect(await asBert.printed("member", "list", ...inOrg)).to.match(
      new RegExp(`^${username} +${bert.userId} +${email} +member +20\\S+Z$`, "m"),
    );
    expect(await asAnna.json("member", "list", ...inOrg)).to.have.length(2);
    expect(await asAnna.failure("member", "remove", anna.userId, "--yes", ...inOrg)).to.include(
      "needs an owner",
    );
    expect(await asAnna.printed("member", "remove", username, "--yes", ...inOrg)).to.equal(
      `${username} (${bert.userId}) is no longer a member.\n`,
    );
    expect(await asAnna.misuse("member", "remove", username, "--yes", ...inOrg)).to.include(
      "is not a member",
    );
  });

  it("say that they need an organization", async () => {
    expect(await asAnna.misuse("member", "list")).to.include("org: --org o_…");
  });
});

import { expect } from "chai";
import { mailToken } from "../../src/alerts/send/mailer.ts";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";

describe("the link that turns mails about alerts off", () => {
  let system: System;
  let user: Api & { userId: string };
  before(async () => {
    system = await startSystem({}, { workers: false });
  });
  after(() => system.stop());
  beforeEach(async () => {
    user = await system.user();
  });

  const open = async (method: string, token?: string) =>
    await fetch(
      `${system.baseUrl.replace("/v1", "")}/alerts/mail-off${token === undefined ? "" : `?token=${token}`}`,
      {
        method,
        ...(method === "POST" && {
          headers: { "content-type": "application/x-www-form-urlencoded" },
          body: "List-Unsubscribe=One-Click",
        }),
      },
    );
  const token = () => mailToken(system.web.config.secretsKeys, user.userId);
  const mail = async () => (await user.expect(200, "GET", "/users/me/alert_settings")).mail;

  it("asks when it is opened, and changes nothing", async () => {
    const response = await open("GET", token());
    expect(response.status).to.equal(200);
    expect(response.headers.get("referrer-policy")).to.equal("no-referrer");
    expect(await response.text()).to.contain('<form method="post">');
    expect(await mail()).to.equal("digest");
  });

  it("turns them off with a POST, without a session and as often as it comes", async () => {
    for (let n = 0; n < 2; n++) expect((await open("POST", token())).status).to.equal(200);
    expect(await mail()).to.equal("off");
  });

  it("does nothing with a wrong token, and gives no access to anything", async () => {
    for (const wrong of [undefined, "", "u_x.y", `${token()}x`])
      expect((await open("POST", wrong)).status).to.equal(404);
    expect(await mail()).to.equal("digest");
    const asKey = await fetch(`${system.baseUrl}/users/me`, {
      headers: { authorization: `Bearer ${token()}` },
    });
    expect(asKey.status).to.equal(401);
    expect((await open("PUT", token())).status).to.equal(405);
  });
});

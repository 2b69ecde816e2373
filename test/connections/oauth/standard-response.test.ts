import { expect } from "chai";
import { asStandardResponse } from "../../../src/connections/oauth/token-client.ts";

const json = (body: unknown, status = 200) => Response.json(body, { status });
const FORM = { headers: { "content-type": "application/x-www-form-urlencoded; charset=utf-8" } };

async function seen(response: Response): Promise<[status: number, body: unknown]> {
  const standard = await asStandardResponse(response);
  return [standard.status, await standard.json()];
}

describe("the response of a token endpoint, as the standard has it", () => {
  const token = { access_token: "t", token_type: "bearer" };

  it("is an error with an error's status, whatever the app's was", async () => {
    const error = { error: "bad_refresh_token", ok: false };
    expect(await seen(json(error))).to.deep.equal([400, error]);
    expect(await seen(json(error, 401))).to.deep.equal([401, error]);
  });

  it("is JSON, also of an app that sends a form", async () => {
    expect(await seen(new Response("access_token=t&scope=a+b&expires_in=60", FORM))).to.deep.equal([
      200,
      { ...token, scope: "a b", expires_in: 60 },
    ]);
    const failed = new Response("error=bad_verification_code", FORM);
    expect(await seen(failed)).to.deep.equal([400, { error: "bad_verification_code" }]);
  });

  it("has a bearer token, whatever the app calls it, and no ID token", async () => {
    for (const token_type of [undefined, "Bearer", "user", "bot"]) {
      const body = { access_token: "t", token_type, id_token: "x.y.z" };
      expect(await seen(json(body))).to.deep.equal([200, token]);
    }
  });

  it("leaves out what is null or no time", async () => {
    for (const expires_in of [null, 0, "", "never", -1, "1e999"]) {
      const body = { access_token: "t", refresh_token: null, scope: null, expires_in };
      expect(await seen(json(body))).to.deep.equal([200, token]);
    }
    expect(await seen(json({ access_token: "t", expires_in: "3600", scope: ["a", "b"] }))).to.deep.equal([
      200,
      { ...token, expires_in: 3600, scope: "a b" },
    ]);
  });

  it("that is neither is passed on", async () => {
    const standard = await asStandardResponse(new Response("<h1>Bad gateway</h1>", { status: 502 }));
    expect([standard.status, await standard.text()]).to.deep.equal([502, "<h1>Bad gateway</h1>"]);
  });
});

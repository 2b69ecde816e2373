import { expect } from "chai";
import { type System, startSystem } from "../support/system.ts";
import { headwater } from "./command.ts";

describe("headwater dashboard", () => {
  let system: System;
  before(async () => {
    system = await startSystem({}, { workers: false });
  });
  after(() => system.stop());

  it("prints a link that signs in as the user of the key", async () => {
    const api = await system.user();
    const env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey };
    const { code, stdout, stderr } = await headwater(["dashboard"], env);
    expect(code, stderr).to.equal(0);
    const url = new URL(stdout.trim());
    expect([url.origin, url.pathname]).to.deep.equal([new URL(system.baseUrl).origin, "/dashboard/sign-in"]);
    const link = new URLSearchParams(url.hash.slice(1)).get("link");
    expect(await api.expect(201, "POST", "/sessions", { body: { link } })).to.include({
      user_id: api.userId,
    });
  });

  it("fails with the API's own words", async () => {
    const env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: `hw_${"x".repeat(32)}` };
    const { code, stderr } = await headwater(["dashboard"], env);
    expect([code, stderr]).to.deep.equal([1, stderr]);
    expect(stderr).to.include("the API key is unknown or revoked");
  });
});

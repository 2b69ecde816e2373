import { expect } from "chai";
import { accessOf, type Choice, type Profiles } from "../../../src/cli/remote/access.ts";

const none: Profiles = { current: null, byName: new Map() };
const profiles: Profiles = {
  current: "one",
  byName: new Map([
    ["one", { url: "https://one.example.com", api_key: "hw_one", org_id: "o_1" }],
    ["two", { url: "https://two.example.com", api_key: "hw_two" }],
  ]),
};
const start = { url: "http://127.0.0.1:3000", apiKey: "hw_start" };

const choose = (choice: Partial<Choice>, given = profiles, beside = start) =>
  accessOf({ option: {}, environment: {}, ...choice }, given, beside);

describe("the server that a command uses", () => {
  it("is the current profile's, or that of this project's start", () => {
    expect(choose({})).to.deep.equal({
      url: "https://one.example.com",
      apiKey: "hw_one",
      profile: "one",
      orgId: "o_1",
    });
    expect(choose({}, none)).to.deep.equal({ ...start, profile: null });
    expect(choose({ orgId: "o_2" }).orgId).to.equal("o_2");
  });

  it("is named by an option before the environment", () => {
    const environment = { url: "https://env.example.com/v1/", key: "hw_env", profile: "one" };
    expect(choose({ environment })).to.deep.equal({
      url: "https://env.example.com",
      apiKey: "hw_env",
      profile: null,
    });
    expect(choose({ option: { profile: "two" }, environment })).to.include({ apiKey: "hw_two" });
    expect(choose({ option: { url: "https://x.example.com" }, environment })).to.include({
      url: "https://x.example.com",
      apiKey: "hw_env",
    });
    expect(choose({ environment: { profile: "two" } })).to.include({ profile: "two" });
  });

  it("gets the key that is kept for it, and no other", () => {
    expect(choose({ option: { url: "https://two.example.com/v1" } })).to.include({ apiKey: "hw_two" });
    expect(choose({ option: { url: "http://127.0.0.1:3000" } })).to.include({ apiKey: "hw_start" });
    expect(() => choose({ option: { url: "https://other.example.com" } })).to.throw("no API key");
    expect(() => choose({ environment: { key: "hw_env" } })).to.throw(
      "HEADWATER_API_KEY: set HEADWATER_URL too",
    );
    expect(choose({ environment: { key: "hw_env" } }, none)).to.include({ url: start.url, apiKey: "hw_env" });
  });

  it("is an error that says what to do", () => {
    expect(() => choose({}, none, { url: "", apiKey: "" })).to.throw("no server: run headwater login URL");
    expect(() => choose({ option: { profile: "three" } })).to.throw("there are one, two");
    expect(() => choose({ option: { profile: "two", key: "hw_x" } })).to.throw(
      "--profile: can't be combined",
    );
    expect(() => choose({ option: { url: "example.com", key: "k" } })).to.throw(
      "--url: example.com is not an http",
    );
    expect(() => choose({ environment: { url: "ftp://example.com", key: "k" } })).to.throw("HEADWATER_URL: ");
    expect(() => choose({ option: { url: "https://hw_x@example.com" } })).to.throw(
      "--url: must have no credentials",
    );
  });
});

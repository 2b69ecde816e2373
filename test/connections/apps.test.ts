import { expect } from "chai";
import { type AppSettings, deleteApp, setApp } from "../../src/connections/apps/apps.ts";
import { AppError } from "../../src/lib/errors.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { type App, Apps } from "../../src/models/connection.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

const SETTINGS: AppSettings = {
  slug: "demo",
  name: "Demo",
  authorizeUrl: "https://demo.example/authorize",
  tokenUrl: "https://demo.example/token",
  clientId: "client",
  clientSecret: "a client's secret",
  tokenAuth: "basic",
};

describe("a registered app", () => {
  let platform: TestPlatform;
  before(async () => {
    platform = await openTestPlatform();
  });
  after(() => platform?.destroy());

  const errorOf = (changes: Partial<AppSettings>): Promise<AppError> =>
    setApp(platform, { ...SETTINGS, ...changes }).then(
      () => {
        throw new Error(`not rejected: ${JSON.stringify(changes)}`);
      },
      (error: unknown) => {
        expect(error).to.be.instanceOf(AppError);
        return error as AppError;
      },
    );

  it("is stored with its secret encrypted, and can be replaced", async () => {
    const shown = await setApp(platform, {
      ...SETTINGS,
      scopes: " read   write ",
      authorizeParams: { a: "b" },
    });
    expect(JSON.stringify(shown)).not.to.contain(SETTINGS.clientSecret);
    expect(shown).to.include({ slug: "demo", scopes: "read write", has_client_secret: true });
    const stored = () => Apps(platform.mongo).findById("demo").lean<App>();
    const sealed = (await stored())?.client_secret ?? "";
    expect(sealed).to.match(/^v1\./);
    expect(platform.secrets.open(sealed)).to.equal(SETTINGS.clientSecret);
    const { clientSecret: _, ...isPublic } = SETTINGS;
    await setApp(platform, { ...isPublic, tokenAuth: "none" });
    expect(await stored()).to.include({ client_secret: null, token_auth: "none", scopes: "" });
  });

  it("has addresses to which secrets can be sent, and parameters that are not the flow's", async () => {
    const cases: [Partial<AppSettings>, RegExp][] = [
      [{ slug: "Not a slug" }, /^slug/],
      [{ tokenUrl: "http://demo.example/token" }, /^token url: must be an https URL/],
      [{ tokenUrl: "file:///etc/passwd" }, /^token url/],
      [{ authorizeUrl: "https://user:pass@demo.example/" }, /^authorize url/],
      [{ authorizeUrl: "https://demo.example/#x" }, /^authorize url/],
      [{ authorizeUrl: "https://demo.example/\n" }, /^authorize url: must not contain/],
      [{ tokenUrl: "https://demo.example/token " }, /^token url: must not begin/],
      [{ issuer: "https://demo.example\t" }, /^issuer: must not contain/],
      [{ clientId: "" }, /^client id/],
      [{ tokenAuth: "none" }, /^token auth/],
      [{ clientSecret: undefined }, /^token auth/],
      [{ authorizeParams: { state: "fixed" } }, /^authorize param state/],
      [{ authorizeParams: { redirect_uri: "https://evil.example" } }, /^authorize param redirect_uri/],
    ];
    for (const [changes, message] of cases) expect((await errorOf(changes)).message).to.match(message);
    await setApp(platform, { ...SETTINGS, tokenUrl: "http://127.0.0.1:9/token" });
  });

  it("is one of so many", async () => {
    const stored = await Apps(platform.mongo).findById("demo").lean<App>();
    const missing = LIMITS.apps.value - (await Apps(platform.mongo).countDocuments());
    const rows = Array.from({ length: missing }, (_, n) => ({ ...(stored as App), _id: `app-${n}` }));
    await Apps(platform.mongo).insertMany(rows);
    expect((await errorOf({ slug: "one-more" })).code).to.equal("limit-reached");
    await setApp(platform, SETTINGS);
    await Apps(platform.mongo).deleteMany({ _id: /^app-/ });
  });

  it("is deleted once", async () => {
    expect(await deleteApp(platform, "demo")).to.deep.equal({ slug: "demo", connections: 0 });
    const again = await deleteApp(platform, "demo").catch((error: AppError) => error.code);
    expect(again).to.equal("not-found");
  });
});

// runs-long: npm test has test/ingress/verification.test.ts and test/ingress/rejections.test.ts, which verify by the API
import { expect } from "chai";
import { PRESETS } from "../../src/verify/presets.ts";
import { signRequest } from "../../src/verify/sign.ts";
import type { SourceView } from "../support/api.ts";
import { until } from "../support/until.ts";
import { misfits } from "./fits.ts";
import { isInvalid, keepScreenshot, openTab, seriousFindings, settled, signIn } from "./signed-in.ts";
import { openDashboard, type Visit } from "./visit.ts";

const CODE = `export default { name: "Payments", version: "0.0.1", props: { http: "$.interface.http" },
  run({ body, verified }) { this.$emit({ type: body.type, verified }, { summary: body.type }); } };`;
const SECRET = "whsec_the right one";
const RULE = PRESETS.stripe?.rule;

// One story in order: each part goes on where the one before ended.
describe("who may send to a source, in the dashboard", () => {
  let visit: Visit;
  let source: SourceView;

  before(async function () {
    visit = await openDashboard(this, {
      prepare: async ({ api }) => {
        source = await api.createSource({ component_code: CODE });
      },
      path: () => `/sources/${source.id}`,
    });
  });
  after(() => visit?.close());

  /** Sends an event as Stripe does that has this secret, and returns the status of the response. */
  async function sendSigned(secret: string): Promise<number> {
    if (!RULE) throw new Error("there is no preset for Stripe");
    const url = source.configured_props.http?.endpoint_url ?? "";
    const body = Buffer.from(JSON.stringify({ id: "evt_1", type: "payment_intent.succeeded" }));
    const unsigned = { method: "POST", url, headers: { "content-type": "application/json" }, body, id: "1" };
    const { headers } = signRequest(RULE, secret, unsigned, Date.now());
    return (await fetch(url, { method: "POST", headers, body })).status;
  }
  const stored = async () => (await visit.api.expect(200, "GET", `/sources/${source.id}`)).verify;
  const save = async () => {
    const { page } = visit;
    const saved = page.waitForResponse(response => response.request().method() === "PUT");
    await page.getByRole("button", { name: "Save verification" }).click();
    return (await saved).status();
  };
  const banner = () => visit.page.getByText(/^Every request since/);

  it("is anybody, until a provider is chosen by its name and its secret pasted", async () => {
    const { page, tab } = visit;
    await page.getByText("Anybody who knows the address may send.").waitFor();
    await page.getByRole("link", { name: "Verify who sends" }).click();
    await settled(page);
    const provider = page.getByLabel("Provider", { exact: true });
    await provider.fill("Strip");
    await provider.press("Enter");
    await page.locator("input:invalid").waitFor();
    expect(await page.getByLabel("Secret", { exact: true }).count()).to.equal(0);
    await provider.fill("stripe");
    await provider.press("Enter");
    await page.getByText(/^The endpoint's signing secret, whsec_… /).waitFor();
    expect(await provider.inputValue()).to.equal("Stripe");
    // As it is copied from a page, with what stands beside it.
    await page.getByLabel("Secret", { exact: true }).fill(`${SECRET} `);
    await page.getByText(/It begins or ends with a blank!$/).waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "verification-settings");
    expect(await save()).to.equal(200);
    await page.getByText("1 secret is set, and never shown.").waitFor();
    expect(await stored()).to.include({ preset: "stripe", secrets: 1, mode: "enforce", tolerance: 300 });
    expect(await page.content()).not.to.include(SECRET);
    expect(tab.problems).to.deep.equal([]);
  });

  it("says why a forged request was rejected, while one looks on", async () => {
    const { page, show } = visit;
    await show(`/sources/${source.id}/verification`);
    await page.getByText("Nothing was rejected").waitFor();
    expect(await sendSigned("whsec_a forger's")).to.equal(401);
    await banner().waitFor();
    const table = page.getByRole("table");
    await table.getByText("The signature fits none of the secrets.").waitFor();
    await table.getByText("Mismatch").waitFor();
    await table.getByText("127.0.0.1").waitFor();
  });

  it("says what is wrong with the secret when the provider itself is rejected", async () => {
    const { page } = visit;
    expect(await sendSigned(SECRET)).to.equal(401);
    await page
      .getByText("It matches with the secret without the blanks around it.", { exact: true })
      .waitFor();
    expect(await page.locator("tbody tr").count()).to.equal(2);
    await page.getByText(`headwater source send ${source.id} --signed stripe`).waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "verification-rejected");
    const runs = await visit.api.expect(200, "GET", `/sources/${source.id}/runs`);
    expect(runs, "what is rejected runs nothing").to.deep.equal([]);
  });

  it("accepts it once the secret is mended, and the banner goes", async () => {
    const { page, show } = visit;
    await show(`/sources/${source.id}/settings`);
    await page.getByLabel("New secret").fill(SECRET);
    expect(await save()).to.equal(200);
    expect((await stored()).secrets).to.equal(1);
    expect(await sendSigned(SECRET)).to.equal(200);
    await banner().waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Events", exact: true }).click();
    await page.getByRole("list", { name: "Events" }).getByText("payment_intent.succeeded").waitFor();
    await keepScreenshot(page, "verification-accepted");
  });

  it("replaces the secret in two steps, between which both are right", async () => {
    const { page, show } = visit;
    await show(`/sources/${source.id}/settings`);
    await page.getByLabel("New secret").fill("whsec_the next");
    await page.getByLabel(/^Keep the secret that is set, too/).check();
    expect(await save()).to.equal(200);
    expect([await sendSigned(SECRET), await sendSigned("whsec_the next")]).to.deep.equal([200, 200]);
    await page.getByText("2 secrets are set, and never shown.").waitFor();
    await page.getByLabel(/^Remove the older secret/).check();
    expect(await save()).to.equal(200);
    expect((await stored()).secrets).to.equal(1);
    expect([await sendSigned(SECRET), await sendSigned("whsec_the next")]).to.deep.equal([401, 200]);
  });

  it("shows what is wrong at its field, and has the rest behind More", async () => {
    const { page, tab, show } = visit;
    await show(`/sources/${source.id}/settings`);
    const provider = page.getByLabel("Provider", { exact: true });
    await provider.fill("Svix");
    await provider.press("Enter");
    await page.getByLabel("Secret", { exact: true }).fill("no base64!");
    expect(await save()).to.equal(400);
    await isInvalid(page.getByLabel("Secret", { exact: true }));
    await page.getByText(/is not a key of this kind/).waitFor();
    await provider.fill("Stripe");
    await provider.press("Enter");
    await page.getByLabel("What is not verified").selectOption("report");
    await page.getByText("More", { exact: true }).click();
    await page.getByLabel("Response to a rejected request").selectOption("403");
    await page.getByLabel("How old a request may be, in seconds").fill("60");
    await page.getByLabel("New secret").fill(SECRET);
    expect(await save()).to.equal(200);
    expect(await stored()).to.include({ preset: "stripe", mode: "report", reject_with: 403, tolerance: 60 });
    await page.getByText("Only reports").first().waitFor();
    // To choose the same provider again changes nothing.
    await provider.press("Enter");
    expect(await page.getByLabel("How old a request may be, in seconds").inputValue()).to.equal("60");
    expect(await sendSigned("whsec_a forger's")).to.equal(200);
    await page.getByText(/^Every request since .* would have been rejected/).waitFor();
    expect(tab.problems.filter(one => !one.includes("400"))).to.deep.equal([]);
  });

  it("lets anybody send again when the provider is emptied", async () => {
    const { page } = visit;
    await page.getByLabel("Provider", { exact: true }).fill("");
    await page.getByLabel("Provider", { exact: true }).press("Enter");
    expect(await save()).to.equal(200);
    expect(await stored()).to.equal(null);
    await until(async () => (await page.getByText(/would have been rejected/).count()) === 0);
  });

  it("fits a telephone, in the dark", async () => {
    const { browser, system, api } = visit;
    const body = { verify: { preset: "stripe", secrets: ["whsec_another"] } };
    await api.expect(200, "PUT", `/sources/${source.id}`, { body });
    expect(await sendSigned(SECRET)).to.equal(401);
    const tab = await openTab(browser, system, { width: 390, colours: "dark" });
    await signIn(tab, api, `/sources/${source.id}/verification`);
    await tab.page.getByRole("table").getByText("Mismatch").first().waitFor();
    await settled(tab.page);
    for (const path of ["verification", "settings", ""]) {
      await tab.go(`/sources/${source.id}/${path}`);
      await settled(tab.page);
      expect(await misfits(tab.page), path).to.deep.equal([]);
      expect(await seriousFindings(tab.page), path).to.deep.equal([]);
      await keepScreenshot(tab.page, `verification-390-${path || "events"}`);
    }
    expect(tab.problems).to.deep.equal([]);
    await tab.close();
  });
});

// runs-long: npm test has test/dashboard/retry-schedule.test.ts and test/webhooks/delivery-settings.test.ts

import { expect } from "chai";
import type { Page } from "playwright-core";
import { isInvalid, keepScreenshot, saveAndWait, seriousFindings, settled } from "./signed-in.ts";
import { openDashboard, type Visit } from "./visit.ts";

const OWN_KEY = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

describe("the settings of a webhook's deliveries and signatures", () => {
  let visit: Visit;
  let page: Page;

  before(async function () {
    visit = await openDashboard(this);
    page = visit.page;
  });
  after(() => visit?.close());

  const dialog = () => page.getByRole("dialog");
  const stored = (id: string) => visit.api.expect(200, "GET", `/webhooks/${id}`);
  const idShown = () => /wh_\w+/.exec(page.url())?.[0] ?? "";
  const begin = async (address: string) => {
    await visit.tab.open("/webhooks?new=1");
    await dialog().getByLabel("Address").fill(address);
    await dialog().getByRole("button", { name: "Body, signing, retries, time-out …" }).click();
  };
  const create = () => dialog().getByRole("button", { name: "Create webhook" }).click();

  it("are given with a new one, and what is wrong stands beside its field", async () => {
    await begin("https://example.com/own");
    const key = dialog().getByLabel("Signing key of your own");
    const waits = dialog().getByLabel("Waits before retries");
    const seconds = dialog().getByLabel("Seconds for an attempt");
    await key.fill("whsec_short");
    await create();
    await isInvalid(key);
    await dialog()
      .getByText(/must be whsec_ and the base64 of 24 to 64 bytes/)
      .waitFor();
    await key.fill(OWN_KEY);
    await waits.fill("5s, soon");
    await create();
    await isInvalid(waits);
    await dialog().getByText("Wait 2 must be a duration").waitFor();
    await waits.fill("5s, 10ms");
    await create();
    await dialog().getByText("Wait 2 must be at least 1s").waitFor();
    await waits.fill("5s, 1m");
    await seconds.fill("61");
    await create();
    await isInvalid(seconds);
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "webhook-new-more");
    await seconds.fill("7");
    await dialog().getByLabel("Body").selectOption("cloudevents");
    await create();
    await dialog().waitFor({ state: "detached" });
    await settled(page);
    expect(await stored(idShown())).to.include({
      timeout_seconds: 7,
      signing: "hmac",
      format: "cloudevents",
    });
    expect((await stored(idShown())).retry_schedule).to.deep.equal(["5s", "1m"]);
  });

  it("are changed later: a schedule, none, and the server's own", async () => {
    const id = idShown();
    await visit.tab.open(`/webhooks/${id}/settings`);
    const waits = page.getByLabel("Waits before retries");
    expect(await waits.inputValue()).to.equal("5s, 1m");
    await waits.fill("0s");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await isInvalid(waits);
    for (const [text, schedule] of [
      ["none", []],
      ["30s 2h", ["30s", "2h"]],
      ["", null],
    ] as const) {
      await waits.fill(text);
      await saveAndWait(page, id);
      expect((await stored(id)).retry_schedule, text).to.deep.equal(schedule);
    }
    await page.getByLabel("Body").selectOption("cloudevents-binary");
    await saveAndWait(page, id);
    expect(await stored(id)).to.include({ format: "cloudevents-binary", retry_schedule: null });
    await keepScreenshot(page, "webhook-settings-schedule");
  });

  it("may be those of a key pair, whose public key can be read and copied at any time", async () => {
    await begin("https://example.com/pair");
    const own = dialog().getByLabel("Signing key of your own");
    await own.waitFor();
    await dialog().getByLabel("Signature").selectOption("ed25519");
    await own.waitFor({ state: "detached" });
    await create();
    await dialog().getByText("Verify with this public key").waitFor();
    await dialog().getByRole("button", { name: "To the webhook" }).click();
    await settled(page);
    const { public_key } = await stored(idShown());
    expect(public_key).to.match(/^whpk_/);
    await page.getByRole("link", { name: "Signing" }).click();
    await page.getByText(public_key).waitFor();
    await page.getByRole("button", { name: "Copy public key" }).waitFor();
    expect(await seriousFindings(page)).to.deep.equal([]);
    await keepScreenshot(page, "webhook-signing-ed25519");
  });

  it("go over to the other kind of signature with a rotation", async () => {
    const id = idShown();
    await page.getByRole("button", { name: "Rotate" }).click();
    await dialog().getByLabel("Signature").selectOption("hmac");
    await dialog().getByRole("button", { name: "Rotate" }).click();
    await page.getByText(/^whsec_/).waitFor();
    expect(await stored(id)).to.include({ signing: "hmac", public_key: null });
    await page.getByText("Signing key", { exact: true }).first().waitFor();
  });

  it("meets no error of the browser on the way", () => {
    expect(visit.tab.problems.filter(one => !/status of 400/.test(one))).to.deep.equal([]);
  });
});

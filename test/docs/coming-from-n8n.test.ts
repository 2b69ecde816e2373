import { expect } from "chai";
import { json, startVendor, type Vendor } from "../gallery/vendors.ts";
import { type Kitchen, received, startKitchen } from "./recipes.ts";

describe("the workflow of the page on coming from n8n", () => {
  let kitchen: Kitchen;
  let nasa: Vendor<never>;
  before(async () => {
    kitchen = await startKitchen();
    const flares = ["C1.2", "X9.3"].map(classType => ({ flrID: `2026-FLR-${classType}`, classType }));
    nasa = await startVendor<never>([], ({ path }) => {
      const { pathname, searchParams } = new URL(path, "http://x");
      const isWhole =
        pathname === "/DONKI/FLR" && /^\d{4}-\d\d-\d\d$/.test(searchParams.get("startDate") ?? "");
      return isWhole && searchParams.get("api_key") === "k3y" ? json(200, flares) : json(403);
    });
  });
  after(async () => {
    await kitchen?.stop();
    await nasa?.close();
  });

  it("sends each flare once, to the branch for its class", async () => {
    const [strong, weak] = [await kitchen.receiver(), await kitchen.receiver()];
    const page = await kitchen.open("coming-from/n8n", { "sources.flares": nasa.url });
    await page.shell({ NASA_KEY: "k3y", STRONG_BIN: strong.url, WEAK_BIN: weak.url });
    const texts = async (receiver: typeof strong) => (await received(receiver)).map(({ raw }) => raw);
    expect(await texts(strong)).to.deep.equal(["There was a solar flare of class X9.3"]);
    expect(await texts(weak)).to.deep.equal(["There was a solar flare of class C1.2"]);
    const { data } = await kitchen.client.sources.list({ q: "flares" });
    const { run_id } = await kitchen.client.sources.run(data[0]?.id ?? "");
    const again = await kitchen.runOf(run_id);
    expect(again).to.deep.include({ outcome: "ok", emitted: 0 });
  });
});

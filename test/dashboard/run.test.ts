// runs-long: npm test has test/dashboard/story.test.ts, a whole walk in a browser

import { expect } from "chai";
import type { SourceView } from "../support/api.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { keepScreenshot, seriousFindings, settled } from "./signed-in.ts";
import { openDashboard, type Visit } from "./visit.ts";

const CODE = `export default {
  name: "Till",
  version: "0.0.1",
  props: { http: "$.interface.http" },
  run({ path, body }) {
    console.log("order", body.n);
    this.$emit({ n: body.n });
    if (path === "/bad") throw new TypeError("out of paper");
  },
};`;

describe("the page of a run", () => {
  let opened: Visit;
  let receiver: Receiver;
  let source: SourceView;

  before(async function () {
    opened = await openDashboard(this);
    receiver = await startReceiver(200);
    source = await opened.api.createSource({ component_code: CODE, name: "till" });
    await opened.api.subscribe(
      source.id,
      (await opened.api.createWebhook(receiver.url, { name: "printer" })).id,
    );
  });
  after(async () => {
    await receiver?.close();
    await opened?.close();
  });

  async function run(path: string, n: number): Promise<void> {
    await fetch(`${source.configured_props.http?.endpoint_url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ n }),
    });
  }

  it("is one click from its row, with its time line, log, events and deliveries", async () => {
    const { page, show } = opened;
    await run("/", 1);
    await until(() => receiver.requests.length === 1);
    await show(`/sources/${source.id}/runs`);
    await page.getByRole("row").filter({ hasText: "HTTP" }).getByRole("link", { name: "HTTP" }).click();
    const line = page.getByRole("list", { name: "Time line" });
    await line.getByText("Attempt").waitFor();
    const steps = (await line.locator(".badge:first-of-type").allTextContents()).filter(
      text => text !== "Delivered",
    );
    expect(steps).to.deep.equal(["Queued", "Started", "info", "Ended", "Emitted", "Attempt"]);
    await line.getByText("order 1").waitFor();
    await page.getByText("What a run received that succeeded is not stored.").waitFor();
    expect(await seriousFindings(page), "the run").to.deep.equal([]);
    await keepScreenshot(page, "run");
    await line.getByRole("link", { name: /default channel/ }).click();
    await settled(page);
    await page.getByRole("link", { name: /^run_/ }).click();
    await line.waitFor();
  });

  it("begins with message and stack if it failed; the author's line leads into the code", async () => {
    const { page, show } = opened;
    await run("/bad", 2);
    await show(`/sources/${source.id}/logs`);
    await page.getByRole("button", { name: /out of paper/ }).click();
    await page.getByRole("link", { name: "Run", exact: true }).click();
    const error = page.locator("section.card").filter({ hasText: "TypeError: out of paper" }).first();
    await error.getByText("What the run received").click();
    await error.getByText('"/bad"').waitFor();
    expect(await seriousFindings(page), "a run that failed").to.deep.equal([]);
    await keepScreenshot(page, "run-failed");
    await error.getByRole("link", { name: /component\.js:8:/ }).click();
    await page.locator(".cm-activeLine").getByText("out of paper").waitFor();
    await page.locator(".cm-lint-marker-error").waitFor();
  });

  it("meets no error of the browser on the way", () => {
    expect(opened.tab.problems).to.deep.equal([]);
  });
});

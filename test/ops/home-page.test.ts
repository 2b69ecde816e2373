import { expect } from "chai";
import { type System, startSystem } from "../support/system.ts";
import { signIn } from "./admin.ts";

const PASSWORD = "correct horse battery";

describe("a newcomer", () => {
  let system: System;
  before(async () => {
    system = await startSystem({ ADMIN_PASSWORD: PASSWORD }, { workers: false });
  });
  after(() => system.stop());

  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(new URL(path, system.baseUrl), { headers, redirect: "manual" });

  for (const path of ["/", "/v1", "/v1/"]) {
    it(`finds at ${path} where to go, as a page or as JSON`, async () => {
      const page = await ask(path, { accept: "text/html,application/xhtml+xml,*/*;q=0.8" });
      expect(page.headers.get("content-type")).to.match(/^text\/html/);
      const links = [...(await page.text()).matchAll(/href="([^"]+)"/g)].map(([, href]) => href ?? "");
      expect(links).to.include.members(["/dashboard", "/docs", "/v1/openapi.json", "/admin/queues"]);
      for (const link of links) expect((await ask(link)).status, link).to.be.oneOf([200, 303, 401]);
      for (const accept of ["*/*", "application/json"]) {
        const found = await ask(path, { accept });
        expect(await found.json())
          .to.include({ name: "Headwater" })
          .and.have.property("documentation");
      }
    });
  }

  it("still gets 404 for other paths, and for other methods", async () => {
    expect((await ask("/v2")).status).to.equal(404);
    expect((await fetch(new URL("/", system.baseUrl), { method: "POST" })).status).to.equal(404);
  });

  it("sees in the board Headwater's name, and which source a job is for", async () => {
    const queue = system.web.queues.get("runs");
    await queue?.add("notify", { source_id: "dc_0000000000000001" });
    await system.web.queues.get("deletions")?.add("delete", {});
    const headers = { cookie: await signIn(system.baseUrl, PASSWORD) };
    const html = await (await ask("/admin/queues", headers)).text();
    expect(html).to.include("<title>Headwater</title>").and.not.include("<title>Bull");
    const namesIn = async (name: string) => {
      const shown = await ask(`/admin/queues/api/queues?activeQueue=${name}&page=1&jobsPerPage=10`, headers);
      const { queues } = (await shown.json()) as { queues: { name: string; jobs: { name: string }[] }[] };
      return queues.find(one => one.name === name)?.jobs.map(job => job.name);
    };
    expect(await namesIn("runs")).to.deep.equal(["notify dc_0000000000000001"]);
    expect(await namesIn("deletions")).to.deep.equal(["delete"]);
  });
});

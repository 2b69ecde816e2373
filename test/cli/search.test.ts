import { expect } from "chai";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { environmentOf } from "../workers/worker-process.ts";
import { headwater } from "./command.ts";

describe("headwater search", () => {
  let system: System;
  let env: Record<string, string>;
  let webhook: string;
  before(async () => {
    system = await startSystem({}, { workers: false });
    const api: Api = await system.user();
    env = {
      ...environmentOf(system.web.config),
      HEADWATER_URL: system.baseUrl,
      HEADWATER_API_KEY: api.apiKey,
    };
    webhook = (await api.createWebhook("https://example.com/hook", { name: "orders" })).id;
  });
  after(() => system.stop());

  it("prints a line for each thing for people, and the API's JSON for programs", async () => {
    const { stdout } = await headwater(["search", "order"], env);
    expect(stdout).to.match(
      new RegExp(`^webhook +orders +${webhook} +https://example.com/hook +active$`, "m"),
    );
    const { stdout: json } = await headwater(["search", webhook, "--json"], env);
    expect(JSON.parse(json)[0]).to.include({ kind: "webhook", id: webhook, why: "id" });
  });

  it("says that there are none", async () => {
    const { code, stderr } = await headwater(["search", "nothing of the kind"], env);
    expect([code, stderr]).to.deep.equal([0, "There are none.\n"]);
  });
});

// runs-long: npm test has test/cli/walk.test.ts and test/cli/resources/subscription.test.ts
import { expect } from "chai";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";
import { openApplier } from "../apply/apply-file.ts";
import { commandsWith } from "../command.ts";

describe("headwater workflow", () => {
  let system: System;
  let env: Record<string, string>;
  before(async () => {
    system = await startSystem();
    env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: (await system.user()).apiKey };
  });
  after(() => system.stop());

  const { printed, json, failure } = commandsWith(() => env);

  it("lets a program that only publishes start with an API key alone", async () => {
    const { id } = await json("workflow", "create", "shop");
    expect(id).to.match(/^p_/);
    expect(JSON.parse(await printed("publish", "shop", "--event", `{"n": 1}`))).to.have.property("emit_ids");
    const events = () => json("source", "events", "shop");
    const [event] = await until(async () => (await events()).length === 1 && (await events()));
    expect(event.event.raw_event).to.deep.equal({ n: 1 });
    expect(await printed("workflow", "list", "--ids")).to.match(
      new RegExp(`^NAME +ID +CREATED\nshop +${id} +20\\S+Z\n$`),
    );
    expect(await printed("workflow", "show", id)).to.match(/^name +shop$/m);
    expect((await json("workflow", "update", "shop", "--name", "store")).name).to.equal("store");
    expect(await failure("workflow", "show", "shop")).to.include("workflow: none is called shop");
    expect(await failure("publish", "shop", "--event", "1")).to.include(
      "source or workflow: none is called shop",
    );
    expect(await printed("workflow", "delete", "store", "--yes")).to.equal(`store (${id}) was deleted.\n`);
    expect(await json("workflow", "list")).to.deep.equal([]);
  });

  it("is declared in a file, with what listens to it, and deleted with --prune", async () => {
    const applier = await openApplier(() => env, "no secret is in these files");
    const text = `
project: shop
workflows: { orders: , bills: {} }
webhooks: { inbox: { url: "https://example.com/hook" } }
subscriptions: [{ from: orders, to: inbox }, { from: orders, to: bills }]
`;
    try {
      expect(await applier.applied(text)).to.match(
        /^\+ workflow shop\/orders$[\s\S]*5 to create, 0 to change/m,
      );
      expect(await applier.applied(text)).to.equal("Nothing to change.\n");
      expect(await json("subscription", "list")).to.have.length(2);
      const less = text.replace(", bills: {}", "").replace(", { from: orders, to: bills }", "");
      expect(await applier.applied(less, "--prune", "--yes")).to.match(
        /^- workflow shop\/bills$[\s\S]*1 to delete/m,
      );
      expect((await json("workflow", "list")).map(({ name }: { name: string }) => name)).to.deep.equal([
        "shop/orders",
      ]);
    } finally {
      await applier.close();
    }
  });
});

import { expect } from "chai";
import type { Receiver } from "../../support/receiver.ts";
import { until } from "../../support/until.ts";
import { commandsWith } from "../command.ts";
import { openSubscriptionCommands, type SubscriptionCommands } from "./subscription-commands.ts";

describe("headwater subscription", () => {
  let open: SubscriptionCommands;
  let receiver: Receiver;
  let api: SubscriptionCommands["api"];
  let env: Record<string, string>;
  let flow: string;
  before(async () => {
    open = await openSubscriptionCommands();
    ({ receiver, api, env, flow } = open);
  });
  after(() => open?.close());

  const { printed, json, misuse } = commandsWith(() => env);
  const file = (code: string) => open.file(code);
  const received = () => receiver.requests.map(({ raw }) => JSON.parse(raw));

  it("sets a function, shows it, replaces it and takes it away", async () => {
    const double = await file("export default (event: { n: number }) => ({\n\ttwice: event.n * 2 });\n");
    const { id } = await json("subscription", "create", flow, "inbox", "--function", double);
    await printed("publish", flow, "--event", '{"n": 1}');
    await until(() => received().length === 1);
    expect(received()).to.deep.equal([{ twice: 2 }]);
    const shown = await printed("subscription", "show", id);
    expect(shown)
      .to.match(/^function +yes$/m)
      .and.to.include("=> ({\n\ttwice: event.n * 2 });");
    expect(await printed("subscription", "list")).to.match(new RegExp(`^${id} .* yes$`, "m"));

    const drop = await file("export default () => null;");
    expect(await json("subscription", "update", id, "--function", drop)).to.include({
      id,
      function: "export default () => null;",
    });
    expect((await json("subscription", "update", id, "--filter", '{"n": 3}')).function).to.include("null");
    expect(await json("subscription", "update", id, "--no-function", "--filter", "{}")).not.to.have.property(
      "function",
    );
    await printed("publish", flow, "--event", '{"n": 2}');
    await until(() => received().length === 2);
    expect(received()[1]).to.deep.equal({ n: 2 });
    expect(await misuse("subscription", "update", id)).to.include("nothing to change");
    await printed("subscription", "delete", id, "--yes");
  });

  it("changes an organization's subscription by its id, and makes none for the user @long", async () => {
    const org = await open.system.organization(api.userId);
    const { id } = await api.expect(200, "POST", "/subscriptions", {
      query: {
        org_id: org,
        emitter_id: org,
        listener_id: (await api.createWebhook(receiver.url, { org_id: org })).id,
      },
    });
    const filter = ["--filter", '{"n": 1}'];
    expect(await json("subscription", "update", id, ...filter)).to.deep.include({
      ...{ id, org_id: org, filter: { n: 1 } },
    });
    expect(await printed("subscription", "show", id)).to.match(new RegExp(`^organization +${org}$`, "m"));
    const code = await file("export default event => event;");
    expect(await json("subscription", "update", id, "--function", code, "--org", org)).to.deep.include({
      ...{ id, filter: { n: 1 }, function: "export default event => event;" },
    });
    expect(await json("subscription", "list")).to.deep.equal([]);
    expect(await json("subscription", "list", "--org", org)).to.have.length(1);
  });
});

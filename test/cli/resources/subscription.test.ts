import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Api } from "../../support/api.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";
import { commandsWith } from "../command.ts";

describe("headwater subscription", () => {
  let system: System;
  let receiver: Receiver;
  let api: Api & { userId: string };
  let env: Record<string, string>;
  let flow: string;
  let folder: string;
  before(async () => {
    system = await startSystem();
    receiver = await startReceiver(200);
    api = await system.user();
    env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey };
    flow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
    folder = await mkdtemp(join(tmpdir(), "headwater-subscription-"));
    await api.createWebhook(receiver.url, { name: "inbox" });
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
    await receiver?.close();
    await system?.stop();
  });

  const { printed, json, failure } = commandsWith(() => env);
  async function file(code: string): Promise<string> {
    const path = join(folder, "function.ts");
    await writeFile(path, code);
    return path;
  }
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
    expect(await failure("subscription", "update", id)).to.include("nothing to change");
    await printed("subscription", "delete", id);
  });

  it("changes an organization's subscription by its id, and makes none for the user", async () => {
    const org = await system.organization(api.userId);
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

import { expect } from "chai";
import { setOperator } from "../../src/accounts/operators.ts";
import { recordOfOperator, recordOwnAction } from "../../src/audit/record.ts";
import { type System, startSystem } from "../support/system.ts";
import { environmentOf } from "../workers/worker-process.ts";
import { headwater } from "./command.ts";

describe("headwater audit", () => {
  let system: System;
  let env: Record<string, string>;
  let webhook: string;
  let userId: string;
  before(async () => {
    system = await startSystem({}, { workers: false });
    const api = await system.user();
    ({ userId } = api);
    env = {
      ...environmentOf(system.web.config),
      HEADWATER_URL: system.baseUrl,
      HEADWATER_API_KEY: api.apiKey,
    };
    webhook = (await api.createWebhook("https://example.com/hook", { name: "orders" })).id;
    await recordOwnAction(system.worker, {
      ...{ ownerId: api.userId, action: "webhook.disabled", thing: { id: webhook, name: "orders" } },
      reason: "the endpoint returned 410 Gone",
    });
  });
  after(() => system.stop());

  it("prints a line for each change for people, and the API's JSON for programs", async () => {
    const { stdout } = await headwater(["audit", "--thing", webhook], env);
    const [head, disabled, created] = stdout.split("\n");
    expect(head).to.match(/^TIME +WHO +ACTION +THING +FIELDS +FROM$/);
    expect(disabled).to.match(
      /Z +headwater +webhook\.disabled +orders \(wh_\w+\) +the endpoint returned 410 Gone +-$/,
    );
    expect(created).to.match(
      /user\S+, key \(hw_\w+…\) +webhook\.created +orders \(wh_\w+\) +url, name +127\.0\.0\.1$/,
    );
    const json = await headwater(
      ["audit", "--by", "headwater", "--since", "1h", "--limit", "1", "--json"],
      env,
    );
    expect(JSON.parse(json.stdout)).to.have.length(1);
    const { stderr } = await headwater(["audit", "--action", "source.deleted"], env);
    expect(stderr).to.equal("There are none.\n");
  });

  it("prints what operators did to the installation, to operators", async () => {
    const rejected = await headwater(["audit", "--installation"], env);
    expect(rejected.code).to.equal(1);
    expect(rejected.stderr).to.include("only an operator may do this");
    await setOperator(system.worker, userId, true);
    await recordOfOperator(system.worker, { action: "app.saved", thing: { id: "github", name: "GitHub" } });
    const { stdout } = await headwater(["audit", "--installation", "--action", "app.saved"], env);
    expect(stdout.split("\n")[1]).to.match(/Z +operator +app\.saved +GitHub \(github\) +- +-$/);
  });
});

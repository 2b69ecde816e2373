// runs-long: npm test has test/cli/resources/subscription.test.ts and test/functions
import { expect } from "chai";
import { until } from "../../support/until.ts";
import { commandsWith, headwater } from "../command.ts";
import { openSubscriptionCommands, type SubscriptionCommands } from "./subscription-commands.ts";

describe("headwater subscription with a trial or an error", () => {
  let open: SubscriptionCommands;
  let env: Record<string, string>;
  let flow: string;
  before(async () => {
    open = await openSubscriptionCommands();
    ({ env, flow } = open);
  });
  after(() => open?.close());

  const { printed, json, failure, misuse } = commandsWith(() => env);
  const file = (code: string) => open.file(code);

  it("tries a function on the last events or a given one, and stores nothing", async () => {
    await printed("publish", flow, "--event", '{"n": 5}', "--name", "tries");
    await until(async () => (await printed("source", "events", flow)).includes('{"n":5}'));
    const code = await file(
      "export default event => { console.log('got', event.n); if (event.n > 9) throw new Error('too many'); return event.n === 7 ? null : { n: event.n }; };",
    );
    const tried = await printed("subscription", "test", flow, "--channel", "tries", "--function", code);
    expect(tried)
      .to.match(/^\d+-\d+ +[\d.]+ +\{"n":5\}$/m)
      .and.to.match(/^\d+-\d+ +\w+ +got 5$/m);
    const dropped = await printed("subscription", "test", flow, "--function", code, "--event", '{"n": 7}');
    expect(dropped).to.match(/^- +[\d.]+ +dropped$/m);
    const failed = await headwater(
      ["subscription", "test", flow, "--function", code, "--event", '{"n": 10}'],
      env,
    );
    expect(failed.code, failed.stderr).to.equal(1);
    expect(failed.stdout).to.match(/error: .*too many.* \(line 1, column \d+\)/);
    const broken = await file("export default event => {");
    expect(await failure("subscription", "test", flow, "--function", broken)).to.match(
      /function: .*line 1|function: .*1:/,
    );
    expect(await json("subscription", "list")).to.deep.equal([]);
  });

  it("tries a filter on the last events", async () => {
    await printed("publish", flow, "--event", '{"state": "open"}', "--name", "filtered");
    await printed("publish", flow, "--event", '{"state": "closed"}', "--name", "filtered");
    await until(async () => (await printed("source", "events", flow)).includes("closed"));
    const args = ["test", flow, "--channel", "filtered", "--filter", '{"state": "open"}'];
    const { code, stdout, stderr } = await headwater(["subscription", ...args], env);
    expect(code, stderr).to.equal(0);
    expect(stdout)
      .to.match(/^\d+-\d+ +20\S+Z +yes +-$/m)
      .and.to.match(/^\d+-\d+ +20\S+Z +no +state must be "open", but is "closed"$/m);
    expect(stderr).to.equal("1 of 2 events match.\n");
    expect(await misuse("subscription", "test", flow)).to.match(/--filter, --function: exactly one/);
    expect(await misuse("subscription", "test", flow, "--filter", "{}", "--event", "1")).to.include(
      "--event: goes with --function",
    );
    expect((await headwater(["subscription", "test", flow, "--filter", "[]"], env)).code).to.equal(2);
  });

  it("names the file and the function that is wrong", async () => {
    expect(await failure("subscription", "create", flow, "inbox", "--function", "absent.mjs")).to.match(
      /absent\.mjs can't be read/,
    );
    const broken = await file("export default 7;");
    expect(await failure("subscription", "create", flow, "inbox", "--function", broken)).to.match(
      /function: .*default export must be a function/,
    );
    const fine = await file("export default event => event;");
    expect(await failure("subscription", "create", flow, flow, "--function", fine)).to.include("function: ");
    expect(await json("subscription", "list")).to.deep.equal([]);
  });
});

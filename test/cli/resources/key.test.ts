// runs-long: npm test has test/accounts/key-limits.test.ts, and the walk of test/cli/walk.test.ts

import { expect } from "chai";
import type { Api } from "../../support/api.ts";
import { type System, startSystem } from "../../support/system.ts";
import { commandsWith, headwater } from "../command.ts";

const DAY_S = 86_400;

describe("headwater key", () => {
  let system: System;
  let anna: Api & { userId: string };
  before(async () => {
    system = await startSystem();
    anna = await system.user();
  });
  after(() => system.stop());

  const envOf = (apiKey: string) => ({ HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: apiKey });
  const { printed, json, failure, misuse } = commandsWith(() => envOf(anna.apiKey));

  it("makes a key for one emitter and some days, which publishes there and does nothing else", async () => {
    const make = (name: string) => anna.expect(201, "POST", "/workflows", { body: { name } });
    const [shop, other] = await Promise.all(["shop", "other"].map(make));
    const options = ["--access", "publish", "--emitter", "shop", "--expires", "30d", "--name", "till"];
    const { code, stdout, stderr } = await headwater(["key", "create", ...options], envOf(anna.apiKey));
    expect([code, stdout]).to.match(/^0,hw_\w{32}\n$/);
    expect(stderr).to.match(
      new RegExp(`^key_\\S+: publish to ${shop.id}, expires 20\\S+Z\\. It is shown only now\\.\n$`),
    );
    const asTill = commandsWith(() => envOf(stdout.trim()));
    await asTill.printed("publish", shop.id, "--event", "1");
    expect(await asTill.failure("publish", other.id, "--event", "1")).to.include("emitter_ids");
    expect(await asTill.failure("workflow", "list")).to.include("this one has publish");

    const [till, ...others] = await json("key", "list");
    expect(till).to.include({ name: "till", access: "publish" });
    expect(till.expires_at).to.be.closeTo(Date.now() / 1000 + 30 * DAY_S, 60);
    expect(others).to.have.length(1);
    const rows = await printed("key", "list");
    expect(rows).to.match(
      new RegExp(`^${till.id} +till +hw_\\S{4} +publish to ${shop.id} +expires 20\\S+Z +20\\S+Z$`, "m"),
    );
    expect(await printed("key", "revoke", till.id)).to.equal(`${till.id} is revoked.\n`);
    expect(await printed("key", "list")).to.match(new RegExp(`^${till.id} .* revoked 20\\S+Z`, "m"));
    expect(await asTill.failure("publish", shop.id, "--event", "1")).to.include("unknown or revoked");
  });

  it("makes one that reads, or may do everything, and says what can't be", async () => {
    const reading = await json("key", "create", "--access", "read");
    expect(reading).to.include({ access: "read", expires_at: null, emitter_ids: null });
    expect(await json("key", "create")).to.include({ access: "full" });
    const asReader = commandsWith(() => envOf(reading.api_key));
    expect(await asReader.json("workflow", "list")).to.be.an("array");
    expect(await asReader.failure("key", "create")).to.include("this one has read");
    expect(await failure("key", "create", "--expires", "2020-01-01")).to.include("must be in the future");
    expect(await failure("key", "create", "--access", "publish", "--emitter", "nothing")).to.include(
      "none is called nothing",
    );
    for (const [args, message] of [
      [["--access", "write"], "read, publish, full"],
      [["--expires", "30"], "30d days"],
      [["--expires", "soon"], "30d or 12h"],
    ] as const) {
      const { code, stderr } = await headwater(["key", "create", ...args], envOf(anna.apiKey));
      expect(code).to.equal(2);
      expect(stderr).to.include(message);
    }
  });

  it("makes an address for an agent's host, which reads unless another access is asked for", async () => {
    const made = await headwater(["key", "create", "--connector", "--name", "chat"], envOf(anna.apiKey));
    expect([made.code, made.stdout]).to.match(/^0,http\S+\/mcp\/c\/hwc_[\w-]{43}\n$/);
    expect(made.stderr).to.match(/^key_\S+: read, does not expire\. It is a secret, and shown only now\.\n$/);
    const full = await json("key", "create", "--connector", "--access", "full");
    expect(full).to.include({ kind: "connector_url", access: "full" });
    expect(await misuse("key", "create", "--connector", "--access", "publish")).to.include("--connector");
  });

  it("keeps what is for one's own keys apart from what is for operators", async () => {
    for (const [args, flag] of [
      [["key", "create", anna.userId, "--access", "read"], "--access"],
      [["key", "create", anna.userId, "--url", system.baseUrl], "--url"],
      [["--org", "o_1", "key", "list", anna.userId], "--org"],
      [["key", "list", anna.userId, "--limit", "5"], "--limit"],
    ] as const) {
      expect(await misuse(...args)).to.include(`${flag}: goes without a user id`);
    }
    // Another user's, although the settings of stores are there: --url asks the server.
    const bert = await system.user();
    const [{ id }] = await bert.expect(200, "GET", "/api_keys");
    const { stderr } = await headwater(["key", "revoke", id, "--url", system.baseUrl], {
      ...envOf(anna.apiKey),
      MONGODB_URL: "mongodb://127.0.0.1:1/",
    });
    expect(stderr).to.include("API key not found");
  });
});

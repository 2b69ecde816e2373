import { expect } from "chai";
import { newId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import { CODES } from "../../../src/mcp/protocol.ts";
import { type McpListener, Webhooks } from "../../../src/models/webhook.ts";
import { Api } from "../../support/api.ts";
import type { Reply } from "../../support/receiver.ts";
import { type System, startSystem } from "../../support/system.ts";
import { type Callback, newSecret, right, startCallback, subscribe } from "./agent.ts";

const CODE = `export default { name: "One", version: "0.0.1", props: { http: "$.interface.http" }, run() {} };`;

/** What `events/subscribe` rejects; no worker is needed for it. */
describe("mcp/events, rejections", () => {
  let system: System;
  let api: Awaited<ReturnType<System["user"]>>;
  let sourceId: string;
  const callbacks: Callback[] = [];
  before(async () => {
    system = await startSystem({ RATE_LIMITS: "api:0" });
    api = await system.user();
    sourceId = (await api.createSource({ component_code: CODE })).id;
  });
  after(async () => {
    await Promise.all(callbacks.map(one => one.close()));
    await system.stop();
  });

  const callback = async (echo: (challenge: string) => Reply): Promise<Callback> => {
    const started = await startCallback({ echo });
    callbacks.push(started);
    return started;
  };
  const wanted = (url: string, more: object = {}) => ({
    name: "source.event",
    arguments: { source: sourceId },
    url,
    ...more,
  });
  /** Of a user of its own, since challenges are counted for each key. */
  const errorOf = async (given: Parameters<typeof subscribe>[1], of: Api = api) => {
    const { error } = await subscribe(of, given);
    expect(error, "an error").not.to.equal(undefined);
    return error as NonNullable<typeof error>;
  };

  const wrong: [string, (challenge: string) => Reply, string][] = [
    ["another text", () => right("another"), "challenge_failed"],
    ["no JSON", () => ({ status: 200, body: "ok" }), "challenge_failed"],
    [
      "a redirect",
      () => ({ status: 302, headers: { location: "https://example.com/" } }),
      "challenge_failed",
    ],
    [
      "more than it may",
      challenge => ({
        status: 200,
        body: JSON.stringify({ challenge, more: "x".repeat(LIMITS.mcpChallengeBytes.value) }),
      }),
      "challenge_failed",
    ],
    ["404", () => 404, "http_4xx"],
    ["503", () => 503, "http_5xx"],
    ["nothing", () => "reset", "connection_refused"],
  ];
  for (const [what, echo, reason] of wrong) {
    it(`a callback that responds to the challenge with ${what}`, async () => {
      const user = await system.user();
      const { id } = await user.createSource({ component_code: CODE });
      const agent = await callback(echo);
      const error = await errorOf(wanted(agent.url, { arguments: { source: id } }), user);
      expect(error).to.deep.include({ code: CODES.callbackEndpoint, data: { reason } });
      expect((await user.request("GET", "/users/me/mcp_subscriptions")).body.data).to.deep.equal([]);
    });
  }

  it("secrets that are none, and shows none of them", async () => {
    for (const secret of ["my-own-key", newSecret(23), newSecret(65), "whsec_!!", `${newSecret()}=`]) {
      const error = await errorOf(wanted("https://example.com/", { secret }));
      expect(error.code, secret).to.equal(CODES.invalidParams);
      expect(error.message).not.to.contain(secret);
    }
  });

  it("addresses that are not https, but for this machine where that is allowed, and private ones", async () => {
    for (const url of [
      "http://example.com/",
      "https://10.0.0.1/",
      "https://u:p@example.com/",
      "ftp://example.com/",
    ]) {
      expect((await errorOf(wanted(url))).code, url).to.equal(CODES.invalidParams);
    }
  });

  it("what nobody has told it of, and what is another account's", async () => {
    const other = await system.user();
    const { id } = await other.createSource({ component_code: CODE });
    const url = "https://example.com/";
    for (const given of [
      wanted(url, { arguments: { source: id } }),
      wanted(url, { arguments: { source: newId("dc") } }),
      wanted(url, { name: `source.${id}`, arguments: {} }),
      wanted(url, { name: "toString" }),
      wanted(url, { name: "workflow.event", arguments: { workflow: newId("p") } }),
    ]) {
      const error = await errorOf(given);
      expect(error, JSON.stringify(given)).to.deep.include({ code: CODES.notFound, data: { kind: "event" } });
    }
  });

  it("arguments that break the schema, a filter that is none, and too many of them", async () => {
    for (const given of [
      {},
      { source: sourceId, more: 1 },
      { source: sourceId, channel: "$secret" },
      { source: sourceId, filter: { a: { $nope: 1 } } },
      { source: sourceId, filter: { a: "x".repeat(LIMITS.mcpArgumentsBytes.value) } },
    ]) {
      const agent = await callback(right);
      const error = await errorOf(wanted(agent.url, { arguments: given }));
      expect(error.code, JSON.stringify(given).slice(0, 80)).to.equal(CODES.invalidParams);
    }
    expect((await api.request("GET", "/users/me/mcp_subscriptions")).body.data).to.deep.equal([]);
  });

  it("a key that may only read", async () => {
    const { api_key } = await api.expect(201, "POST", "/api_keys", {
      body: { name: "agent", access: "read" },
    });
    const error = await errorOf(wanted("https://example.com/"), new Api(api.baseUrl, api_key));
    expect(error.code).to.equal(CODES.forbidden);
  });

  /** Stores subscriptions as if they had been made. */
  const fill = async (of: Api & { userId: string }, count: number, keyId: string) => {
    const agent = await callback(right);
    const { id } = await of.createSource({ component_code: CODE });
    const given = wanted(agent.url, { arguments: { source: id } });
    const { result } = await subscribe(of, given);
    const row = await Webhooks(system.web.mongo).findById(result.id).lean<McpListener>();
    const rows = Array.from({ length: count - 1 }, () => ({
      ...(row as McpListener),
      _id: newId("ms"),
      mcp: { ...(row as McpListener).mcp, key_id: keyId },
    }));
    await Webhooks(system.web.mongo).insertMany(rows);
    return given;
  };

  it("more subscriptions than a key or an account may have, and refreshes those that are there", async () => {
    for (const [limit, max, ofOthers] of [
      ["subscriptions_per_key", LIMITS.mcpSubscriptionsPerKey.value, false],
      ["subscriptions_per_account", LIMITS.mcpSubscriptions.value, true],
    ] as const) {
      const user = await system.user();
      const [own] = (await user.request("GET", "/api_keys")).body.data;
      const given = await fill(user, max, ofOthers ? newId("key") : own.id);
      const error = await errorOf({ ...given, url: `${given.url}&other` }, user);
      expect(error).to.deep.include({ code: CODES.resourceExhausted, data: { limit, max } });
      expect((await subscribe(user, given)).result, "a refresh").to.have.property("id");
    }
  });

  it("more challenges of a key than there may be in a minute", async () => {
    const user = await system.user();
    const { id } = await user.createSource({ component_code: CODE });
    const agent = await callback(() => 500);
    const given = (n: number) => wanted(`${agent.url}&n=${n}`, { arguments: { source: id } });
    for (let n = 0; n < LIMITS.mcpChallenges.value; n++) {
      expect((await errorOf(given(n), user)).code).to.equal(CODES.callbackEndpoint);
    }
    const error = await errorOf(given(99), user);
    expect(error.data).to.deep.include({ limit: "challenges_per_minute" });
    expect(agent.challenges).to.have.length(LIMITS.mcpChallenges.value);
  });
});

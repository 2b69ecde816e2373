import { expect } from "chai";
import fc from "fast-check";
import { CODES } from "../../src/mcp/protocol.ts";
import { type System, startSystem } from "../support/system.ts";
import { exchange, legacy, modern } from "./mcp.ts";

/** What any method may be given in place of what it expects. */
const ANY = fc.oneof(
  fc.constantFrom(null, true, -1, 0.5, 1e308, "", "\u0000", "__proto__", [], {}, [{}], "x".repeat(5000)),
  fc.jsonValue({ maxDepth: 3 }),
);
const NAMES = [
  ...["name", "arguments", "uri", "cursor", "delivery", "ttlMs", "maxAgeMs", "protocolVersion", "ref"],
  ...["mode", "url", "secret", "source", "filter", "channel", "constructor"],
];
const PARAMS = fc.dictionary(fc.constantFrom(...NAMES), ANY, { maxKeys: 6 });
/** Right but for one thing: what is behind the first check is reached too. */
const NEARLY = fc.record({
  name: fc.constantFrom<unknown>("source.event", "alert.raised", "source.dc_0CjB9vRk2MnP5wXc", "get_event"),
  arguments: fc.oneof(fc.dictionary(fc.constantFrom(...NAMES), ANY, { maxKeys: 3 }), ANY),
  uri: fc.constantFrom<unknown>("headwater://docs/agents", "headwater://sources/", "headwater://sources/%00"),
  delivery: fc.oneof(
    fc.record({
      mode: fc.constant("webhook"),
      // No address that would be asked.
      url: fc.oneof(
        fc.webUrl({ withQueryParameters: true }).map(url => url.replace(/\/\/[^/]*/, "//10.0.0.1")),
        ANY,
      ),
      secret: fc.oneof(fc.constant(`whsec_${Buffer.alloc(32).toString("base64")}`), ANY),
    }),
    ANY,
  ),
  ttlMs: ANY,
});
const METHODS = [
  ...["tools/call", "resources/read", "resources/list", "prompts/get", "events/list"],
  ...[
    "events/subscribe",
    "events/unsubscribe",
    "events/poll",
    "events/stream",
    "initialize",
    "server/discover",
  ],
];

describe("mcp, parameters that are nothing that a client sends,", () => {
  let system: System;
  let api: Awaited<ReturnType<System["user"]>>;
  before(async () => {
    system = await startSystem({ RATE_LIMITS: "api:0", EGRESS_ALLOW: "" }, { workers: false });
    api = await system.user();
  });
  after(() => system.stop());

  it("are told what is wrong, in both eras, and are never an error of the server", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...METHODS),
        fc.oneof(PARAMS, NEARLY),
        fc.boolean(),
        async (method, params, isModern) => {
          const name = params.name ?? params.uri;
          const fitsHeader = typeof name !== "string" || /^[\x21-\x7e]{1,100}$/.test(name);
          const request = isModern && fitsHeader ? modern(method, params) : legacy(method, params);
          const { status, json } = await exchange(api, request);
          expect(status).to.be.oneOf([200, 400, 404]);
          expect(json.error?.code).not.to.equal(CODES.internal);
        },
      ),
      { numRuns: 150 },
    );
  });
});

import { createHmac } from "node:crypto";
import { expect } from "chai";
import { publishGallery } from "../../src/gallery/publish-gallery.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { send } from "../sources/http-client.ts";
import type { Api, SourceView } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { openSource, type ShippedSource, shipped } from "./open-shipped.ts";

const KEY = "headwater-slack-events";
const SECRET = "8f742231b10e8888abcd99yyyzzz85a5";
const now = () => Math.floor(Date.now() / 1000);

/** A request as api.slack.com/authentication/verifying-requests-from-slack says that Slack signs it. */
const signed = (content: object, { secret = SECRET, at = now() } = {}) => {
  const body = JSON.stringify(content);
  const signature = createHmac("sha256", secret).update(`v0:${at}:${body}`).digest("hex");
  const headers = {
    "content-type": "application/json",
    "x-slack-request-timestamp": `${at}`,
    "x-slack-signature": `v0=${signature}`,
  };
  return { headers, body: [body] };
};

/** Such a request as the component gets it. */
const arrived = (content: object) => {
  const { headers, body } = signed(content);
  return { method: "POST", url: "http://127.0.0.1/in/x", headers, bodyRaw: body.join(""), body: content };
};

let count = 0;
const callback = (event: object) => {
  count += 1;
  return {
    ...{ token: "XXYYZZ", team_id: "T1", api_app_id: "A1", type: "event_callback" },
    ...{ event_id: `Ev${count}`, event_time: 1_732_867_200, event },
  };
};
const message = (more: object = {}) =>
  callback({ type: "message", channel: "C1", user: "U1", text: "Good morning", ...more });

describe("the gallery's Slack events", () => {
  let system: System;
  let api: Api;
  before(async () => {
    system = await startSystem();
    api = await system.user();
    await publishGallery(system.web, { components: [await shipped(KEY)] });
  });
  after(() => system.stop());

  const deploy = (given: object = {}) =>
    api.createSource({ key: KEY, configured_props: { signingSecret: SECRET, ...given } });
  const post = (source: SourceView, request: object) =>
    send(source.configured_props.http?.endpoint_url ?? "", request);

  it("is registered by Slack's challenge, which runs nothing, and hears only what is signed and new", async () => {
    const source = await deploy();
    const challenge = {
      token: "XXYYZZ",
      challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY",
      type: "url_verification",
    };
    const { status, text } = await post(source, signed(challenge));
    expect([status, text]).to.deep.equal([200, challenge.challenge]);
    for (const rejected of [
      signed(challenge, { secret: "guess" }),
      signed(message(), { secret: "guess" }),
      signed(message(), { at: now() - 400 }),
    ]) {
      expect((await post(source, rejected)).status).to.equal(401);
    }
    const sent = message();
    const last = message({ text: "Good evening" });
    for (const one of [sent, sent, last]) expect((await post(source, signed(one))).status).to.equal(200);
    const found = await until(
      async () => {
        const rows = await api.summaries(source.id, { query: { expand: "event" } });
        const events = rows.map(row => row.event.raw_event);
        return events.some(one => one.event_id === last.event_id) && events;
      },
      { what: "the last message" },
    );
    const { token: _, ...shown } = sent;
    expect(found).to.have.length(2).and.to.deep.include(shown);
  });

  describe("of its app", () => {
    let sandboxes: Sandboxes;
    before(async () => {
      sandboxes = await openTestSandboxes();
    });
    after(() => sandboxes?.close());
    const open = (given: object = {}) => openSource(sandboxes, KEY, { signingSecret: SECRET, ...given });

    it("say what they are, and are events once", async () => {
      const source = await open();
      const sent = message();
      const { emits } = await source.run(arrived(sent));
      expect(emits[0]?.metadata).to.include({
        id: sent.event_id,
        summary: "message Good morning",
        ts: 1_732_867_200_000,
      });
      expect(await source.events(arrived(sent))).to.deep.equal([]);
    });

    it("leave out bots and other types, unless they are wanted", async () => {
      const bots = [
        message({ bot_id: "B1" }),
        message({ subtype: "bot_message" }),
        message({ subtype: "message_changed", message: { bot_id: "B1", text: "x" } }),
      ];
      const reaction = callback({ type: "reaction_added", user: "U1", reaction: "thumbsup" });
      const quiet = await open();
      const all = await open({ ignoreBots: false, types: ["message"] });
      const heard = async (source: ShippedSource) => {
        const events = [];
        for (const body of [...bots, reaction]) events.push(...(await source.events(arrived(body))));
        return events.map(one => (one as typeof reaction).event_id);
      };
      expect(await heard(quiet)).to.deep.equal([reaction.event_id]);
      expect(await heard(all)).to.deep.equal(bots.map(one => one.event_id));
    });

    it("fail when Slack leaves some out, and are none for what is no event", async () => {
      const source = await open();
      expect((await source.run(arrived({ type: "app_rate_limited", team_id: "T1" }))).failed).to.match(
        /^Slack leaves events out for a while/,
      );
      expect(await source.events(arrived({ payload: "{}" }))).to.deep.equal([]);
    });
  });
});

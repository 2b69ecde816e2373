import { expect } from "chai";
import { send } from "../../src/deliveries/attempt/send.ts";
import type { Message } from "../../src/destinations/message.ts";
import { createEgress } from "../../src/egress/agent.ts";
import { createResolver } from "../../src/egress/blocked-hosts.ts";
import type { Webhook } from "../../src/models/webhook.ts";
import { startNameServer } from "../egress/name-server.ts";
import {
  type BadReceiver,
  BEHAVIOURS,
  HUGE_BYTES,
  refusedUrl,
  startBadReceiver,
  startSelfSigned,
  TLS_BEHAVIOURS,
} from "../support/bad-receivers.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { subscribe, webhookOf } from "./fixtures.ts";

const TIMEOUT_MS = 400;
/** For receivers that respond: a busy machine must not turn a response into a time-out. */
const PATIENT_MS = 5000;
/** Long enough for a busy machine: the tests check that an attempt ends, not how quickly. */
const BOUND_MS = 10 * TIMEOUT_MS;

/** The outcome of an attempt: a result, or a pattern of its error. */
type Expected = { status: number; error: string | null; response?: string } | RegExp;

const TIMEOUT = /^timeout: 127\.0\.0\.1 did not respond within \d+ ms$/;
const RESET = /^reset: the connection to 127\.0\.0\.1 ended early: /;
const PROTOCOL = /^protocol: 127\.0\.0\.1 did not respond with valid HTTP$/;
/** The status arrived before the connection broke off, and a 2xx is a success. */
const CUT = { status: 200, error: null, response: "part…" };
const LONG = { status: 200, error: null, response: `${"x".repeat(1023)}…` };

const UNENDING = { status: 200, error: null };
const LATE: readonly Expected[] = [TIMEOUT, UNENDING];

const EXPECTED: Record<keyof typeof BEHAVIOURS, Expected> = {
  "takes the request and hangs": TIMEOUT,
  "answers its head byte by byte, without end": TIMEOUT,
  "answers its body byte by byte, without end": UNENDING,
  "answers its body byte by byte, and in time": { status: 200, error: null, response: "hello" },
  "answers early hints without end": TIMEOUT,
  "answers 10 MB": LONG,
  "answers 10 MB in chunks": LONG,
  "answers 10 MB of headers": /^protocol: 127\.0\.0\.1 responded with more than 16 KB of headers$/,
  "closes before the request": RESET,
  "closes without an answer": RESET,
  "closes in the middle of its head": RESET,
  "closes in the middle of its body": CUT,
  "closes in the middle of a chunk": CUT,
  "resets before the request": RESET,
  "resets without an answer": RESET,
  "resets in the middle of its body": CUT,
  "speaks another protocol": PROTOCOL,
  "answers a body without a head": PROTOCOL,
  "answers a malformed status": PROTOCOL,
  "answers a malformed header": PROTOCOL,
  "answers two lengths": PROTOCOL,
  "answers a length and chunks": PROTOCOL,
  "answers a malformed chunk": { status: 200, error: null, response: "" },
  "answers a status of its own": { status: 799, error: "HTTP status 799", response: "ok" },
  "wants another protocol": PROTOCOL,
  "answers twice": { status: 200, error: null, response: "ok" },
};

const EXPECTED_TLS: Record<keyof typeof TLS_BEHAVIOURS, RegExp> = {
  "never begins TLS": TIMEOUT,
  "answers plain HTTP where TLS is asked for": /^tls: TLS with 127\.0\.0\.1 failed: wrong version number$/,
  "closes in the middle of the handshake": RESET,
  "resets in the middle of the handshake": RESET,
};

const message: Message = {
  id: "dlv_1",
  eventId: "1700000000000-3",
  emitterId: "dc_1",
  eventName: "orders",
  attempt: 1,
  body: JSON.stringify({ text: "x".repeat(10_000) }),
};

const kinds = <Name extends string>(table: Record<Name, unknown>) => Object.keys(table) as Name[];

describe("an attempt at a misbehaving receiver", () => {
  let platform: TestPlatform;
  let webhook: Webhook;
  const receivers: BadReceiver[] = [];

  before(async () => {
    platform = await openTestPlatform({ TIMEOUTS: `attempt:${TIMEOUT_MS}ms` }, { process: "deliveries" });
    const { webhookId } = await subscribe(platform, "http://127.0.0.1:1/");
    webhook = await webhookOf(platform, webhookId);
  });
  after(async () => {
    await Promise.all(receivers.map(one => one.close()));
    await platform.destroy();
  });

  const tracked = async (starting: Promise<BadReceiver>) => {
    const receiver = await starting;
    receivers.push(receiver);
    return receiver;
  };
  const attempt = (url: string, timeoutMs = PATIENT_MS, egress = platform.egress) => {
    const config = { ...platform.config, deliveries: { ...platform.config.deliveries, timeoutMs } };
    return send({ ...platform, egress, config }, { ...webhook, url }, message);
  };

  async function expectOutcome(url: string, expected: Expected): Promise<void> {
    const isLate = LATE.includes(expected);
    const result = await attempt(url, isLate ? TIMEOUT_MS : PATIENT_MS);
    if (isLate) expect(result.latencyMs).to.be.within(TIMEOUT_MS - 1, BOUND_MS);
    if (expected instanceof RegExp) {
      expect(result.error).to.match(expected);
      expect(result).to.include({ status: null, response: "", timedOut: expected === TIMEOUT });
    } else expect(result).to.include({ ...expected, timedOut: false });
  }

  for (const kind of kinds(BEHAVIOURS)) {
    it(`has the expected outcome if the receiver ${kind}`, async () => {
      const receiver = await tracked(startBadReceiver(BEHAVIOURS[kind]));
      await expectOutcome(receiver.url, EXPECTED[kind]);
      // A second attempt shows whether the first has left the connection pool unusable.
      if (!LATE.includes(EXPECTED[kind])) await expectOutcome(receiver.url, EXPECTED[kind]);
      expect(receiver.accepted()).to.be.at.least(1);
    });
  }

  for (const kind of kinds(TLS_BEHAVIOURS)) {
    it(`has the expected outcome if the receiver ${kind}`, async () => {
      const receiver = await tracked(startBadReceiver(TLS_BEHAVIOURS[kind], "https"));
      await expectOutcome(receiver.url, EXPECTED_TLS[kind]);
    });
  }

  it("sends nothing to a receiver with a self-signed certificate", async () => {
    const receiver = await tracked(startSelfSigned());
    await expectOutcome(receiver.url, /^tls: TLS with 127\.0\.0\.1 failed: self-signed certificate$/);
  });

  it("reports a refused connection as such, not as a time-out", async () => {
    await expectOutcome(await refusedUrl(), /^connect: could not connect to 127\.0\.0\.1: ECONNREFUSED$/);
  });

  it("does not follow a redirect, whatever its status", async () => {
    const target = await startReceiver();
    const redirecting = await startReceiver();
    try {
      for (const status of [301, 302, 303, 307, 308]) {
        redirecting.script({ status, headers: { location: target.url } });
        expect(await attempt(redirecting.url)).to.include({ status, error: `HTTP status ${status}` });
      }
      expect(target.requests).to.have.length(0);
    } finally {
      await redirecting.close();
      await target.close();
    }
  });

  it("fails in time if the name does not resolve, or if the name server is silent", async () => {
    const names = await startNameServer({ "nothing.test": [] });
    const resolving = createEgress({
      allow: ["127.0.0.0/8"],
      blockedHosts: [],
      connectTimeoutMs: TIMEOUT_MS,
      resolve: createResolver(TIMEOUT_MS, names.resolver),
    });
    try {
      for (const host of ["nothing.test", "absent.test"]) {
        const result = await attempt(`http://${host}/hook`, PATIENT_MS, resolving);
        expect(result).to.include({ status: null, response: "", timedOut: false });
        expect(result.error).to.equal(`dns: ${host} is not a known host name`);
      }
      await names.close();
      const silent = await attempt("http://nothing.test/hook", TIMEOUT_MS, resolving);
      expect(silent.error).to.match(/^(dns|timeout): /);
      expect(silent.latencyMs).to.be.within(0, BOUND_MS);
    } finally {
      await resolving.close();
    }
  });

  it("reads a response of 10 MB no further than the system's own buffers, also with many attempts", async () => {
    const receiver = await tracked(startBadReceiver(BEHAVIOURS["answers 10 MB"]));
    const attempts = 24;
    const results = await Promise.all(Array.from({ length: attempts }, () => attempt(receiver.url)));
    for (const { response } of results) expect(response).to.have.length(1024);
    expect(receiver.sentBytes()).to.be.lessThan((attempts * HUGE_BYTES) / 2);
  });

  it("delays no attempt at another receiver, also if 50 hang at once", async () => {
    const receiver = await tracked(startBadReceiver(BEHAVIOURS["takes the request and hangs"]));
    const good = await startReceiver();
    try {
      const attempts = Array.from({ length: 50 }, () => attempt(receiver.url, TIMEOUT_MS));
      expect(await attempt(good.url)).to.include({ status: 200 });
      expect((await Promise.all(attempts)).every(({ timedOut }) => timedOut)).to.equal(true);
    } finally {
      await good.close();
    }
  });

  it("leaves no connection open once the connections kept for reuse have expired", async () => {
    expect(receivers.length).to.be.greaterThan(30);
    await until(() => receivers.every(one => one.open() === 0), { what: "no open connections" });
  });
});

describe("deliveries to bad receivers", () => {
  let system: System;
  const receivers: BadReceiver[] = [];

  before(async () => {
    system = await startSystem({
      RATE_LIMITS: "api:0",
      TIMEOUTS: "attempt:2s",
      DELIVERY_RETRY_SCHEDULE: "1h",
    });
  });
  after(async () => {
    await Promise.all(receivers.splice(0).map(one => one.close()));
    await system.stop();
  });

  it("are logged with status or error, and are delivered or wait for the next attempt", async () => {
    // 26 webhooks are created first, one request after another.
    const api = await system.user();
    const source = await api.createSource({
      component_code: `export default { name: "Echo", version: "0.0.1", props: { http: "$.interface.http" },
        run(event) { this.$emit(event.body); } };`,
    });
    const hooks = new Map<string, keyof typeof BEHAVIOURS>();
    for (const kind of kinds(BEHAVIOURS)) {
      const receiver = await startBadReceiver(BEHAVIOURS[kind]);
      receivers.push(receiver);
      const { id } = await api.createWebhook(receiver.url);
      await api.subscribe(source.id, id);
      hooks.set(id, kind);
    }
    await fetch(source.configured_props.http?.endpoint_url ?? "", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"hello":"world"}',
    });

    for (const [id, kind] of hooks) {
      const logged = await until(
        async () => {
          const [delivery] = await api.expect(200, "GET", `/webhooks/${id}/deliveries`);
          return delivery?.last_attempt ? delivery : null;
        },
        { what: `the attempt at the receiver that ${kind}` },
      );
      const expected = EXPECTED[kind];
      const attempt = logged.last_attempt;
      expect(attempt, kind).to.include({ number: 1, trigger: "schedule" });
      if (expected instanceof RegExp) {
        expect(attempt.error, kind).to.match(expected);
        expect(attempt, kind).to.include({ status: null, response: "" });
      } else expect(attempt, kind).to.include(expected);
      const isDelivered = !(expected instanceof RegExp) && expected.error === null;
      expect(logged.state, kind).to.equal(isDelivered ? "delivered" : "pending");
      expect(logged.next_attempt_at_ms !== null, kind).to.equal(!isDelivered);
      const { failing_since } = await api.expect(200, "GET", `/webhooks/${id}`);
      expect(failing_since !== null, kind).to.equal(!isDelivered);
    }
  });
});

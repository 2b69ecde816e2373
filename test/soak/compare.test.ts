import { expect } from "chai";
import type { Arrival } from "../faults/counting-receiver.ts";
import { compare, TIMER_GRACE_MS } from "./compare.ts";
import { type ExpectedWebhook, Model } from "./model.ts";
import { deviations } from "./report.ts";

/** A check that can't fail checks nothing: each kind of deviation is made here, and must be found. */
describe("the comparison of a soak", () => {
  let model: Model;
  let webhook: ExpectedWebhook;
  let paths: Map<string, Map<string, Arrival>>;
  let lastMs: number;

  /** Lets an event that was accepted arrive at `/plain`; returns its arrival. */
  function arrive(key: string, more: Partial<Arrival> = {}, path = "/plain"): Arrival {
    lastMs += 10;
    const ids = { webhookIds: new Set([`dlv-${key}`]), eventIds: new Set([`${lastMs}-0`]) };
    const arrival = {
      requests: 1,
      ...ids,
      atMs: lastMs,
      deliveredAtMs: lastMs,
      repeats: 0,
      event: {},
      ...more,
    };
    const arrivals = paths.get(path) ?? new Map<string, Arrival>();
    paths.set(path, arrivals.set(key, arrival));
    return arrival;
  }
  const send = (emitter = "plain") => {
    const event = model.sending(emitter);
    model.accepted(event);
    return event;
  };
  /** The deviations by their names. */
  const found = (): Record<string, number> => {
    const rows = compare(model, path => paths.get(path) ?? new Map());
    const wrong = rows.filter(({ isDeviation, count }) => isDeviation && count > 0);
    expect(deviations(rows)).to.equal(wrong.reduce((sum, { count }) => sum + count, 0));
    return Object.fromEntries(wrong.map(({ what, count }) => [what, count]));
  };

  beforeEach(() => {
    model = new Model();
    paths = new Map();
    lastMs = Date.now();
    const subscriptions = [{ emitter: "plain", sinceMs: 0 }];
    webhook = { path: "/plain", id: "wh_1", signingKey: "", isOrdered: true, subscriptions };
    model.webhooks.push(webhook);
    model.inSeries.add("plain");
    for (let n = 0; n < 5; n++) arrive(send().key);
  });

  it("finds nothing where everything arrived once and in order", () => {
    expect(found()).to.deep.equal({});
  });

  it("finds an event that never arrived, or was never delivered", () => {
    send();
    arrive(send().key, { deliveredAtMs: undefined } as never);
    expect(found()).to.deep.equal({ lost: 2 });
  });

  it("does not miss an event whose request had no result, nor one at a deleted webhook", () => {
    model.sending("plain");
    webhook.deletedAtMs = lastMs;
    send();
    expect(found()).to.deep.equal({});
  });

  it("finds an event that was doubled under another id, and allows repeats under the same", () => {
    arrive(send().key, { requests: 3, repeats: 2 });
    expect(found()).to.deep.equal({});
    arrive(send().key, { webhookIds: new Set(["dlv-1", "dlv-2"]) });
    expect(found()).to.deep.equal({ "doubled under another webhook-id": 1 });
    arrive(send().key, { eventIds: new Set([`${lastMs + 11}-0`, `${lastMs + 11}-1`]) });
    expect(found()).to.include({ "doubled as another event": 1 });
  });

  it("finds events that changed places, at an ordered webhook and in a series", () => {
    const [first, second] = [send(), send()];
    arrive(second.key);
    arrive(first.key);
    expect(found()).to.deep.equal({ "event ids out of order in a series": 1 });
    const [third, fourth] = [arrive(send().key), arrive(send().key)];
    [third.atMs, fourth.atMs] = [fourth.atMs, third.atMs];
    expect(found()).to.include({ "out of order at an ordered webhook": 1 });
  });

  it("finds events of one request that changed places", () => {
    model.inSeries.clear();
    webhook.isOrdered = false;
    const [first, second, third] = [send(), send(), send()];
    model.batches.push([first, second, third]);
    for (const { key } of [first, third]) arrive(key);
    expect(found()).to.deep.equal({ lost: 1 });
    arrive(second.key);
    expect(found()).to.deep.equal({ "event ids out of order in a request": 1 });
  });

  it("allows an event to be passed only while a worker that may hold it was killed or hung", () => {
    const [one, other] = [arrive(send().key), arrive(send().key)];
    [one.atMs, other.atMs] = [other.atMs, one.atMs];
    const fault = { title: "", fromMs: lastMs - 100, toMs: lastMs + 100 };
    model.faults.push({ ...fault, holdsEmissions: false });
    expect(found()).to.deep.equal({ "out of order at an ordered webhook": 1 });
    model.faults.push({ ...fault, holdsEmissions: true });
    expect(found()).to.deep.equal({});
  });

  it("finds what was filtered out or never sent, and what arrived after a deletion", () => {
    webhook.subscriptions = [{ emitter: "plain", sinceMs: 0, matches: ({ n }) => n > 1 }];
    arrive("plain:99");
    expect(found()).to.deep.equal({ "arrived unexpectedly": 2 });
    webhook.deletedAtMs = lastMs;
    arrive(send().key, { atMs: lastMs + 60_000 });
    expect(found()).to.include({ "arrived after the webhook's deletion": 1 });
  });

  it("finds the events of a listener that did not hear one", () => {
    model.webhooks.push({
      ...webhook,
      path: "/heard",
      isOrdered: false,
      subscriptions: [{ emitter: "heard", sinceMs: 0 }],
    });
    model.derivations.push({ from: "plain", to: "heard", suffix: ">heard" });
    for (let n = 1; n < 5; n++) arrive(`plain:${n}>heard`, {}, "/heard");
    expect(found()).to.deep.equal({ lost: 1 });
  });

  it("finds a count that is missing or doubled, and a run by an earlier version", () => {
    model.webhooks.push({
      ...webhook,
      path: "/counting",
      subscriptions: [{ emitter: "counting", sinceMs: 0 }],
    });
    for (const count of [1, 2, 2, 4]) arrive(send("counting").key, { event: { count } }, "/counting");
    expect(found()).to.deep.equal({ "counter in $.service.db": 1 });
    const event = model.sending("versioned", { version: 3 });
    arrive(event.key, { event: { version: 2 } }, "/versioned");
    expect(found()).to.include({ "handled by an earlier version": 1 });
  });

  it("finds a timer that fell silent, at the end too, and a doubled tick", () => {
    const sinceMs = Math.ceil(lastMs / 1000) * 1000;
    const untilMs = sinceMs + TIMER_GRACE_MS;
    model.timers.push({ path: "/timer", intervalMs: 1000, sinceMs, untilMs });
    model.webhooks.push({ ...webhook, path: "/timer", isOrdered: false, subscriptions: [] });
    const tick = (ms: number, more = {}) => arrive(String((sinceMs + ms) / 1000), more, "/timer");
    tick(1000);
    expect(found()).to.deep.equal({});
    tick(2000, { eventIds: new Set(["1-0", "2-0"]) });
    expect(found()).to.deep.equal({ "doubled ticks": 1 });
    const [timer] = model.timers;
    if (timer) timer.untilMs = untilMs + 10_000;
    expect(found()).to.include({ [`timers silent for over ${TIMER_GRACE_MS / 1000} s`]: 1 });
  });
});

import { expect } from "chai";
import { InFlight, type InFlightBounds } from "../../../src/deliveries/limits/in-flight.ts";
import { LIMITS } from "../../../src/limits/catalogue.ts";
import { Metrics } from "../../../src/metrics/metrics.ts";
import type { McpTerms } from "../../../src/models/webhook.ts";

const webhook = (owner_id: string, host = "a.example") => ({ owner_id, url: `https://${host}/${owner_id}` });

describe("attempts in flight", () => {
  const metrics = new Metrics();
  const open = (bounds: Partial<InFlightBounds>) =>
    new InFlight(metrics, { process: 100, account: 100, origin: 100, callbackHost: 100, ...bounds });
  const putOff = (reason: string) => metrics.valueOf("attempts_put_off_total", { reason });

  it("of one account leave room in the process for others", async () => {
    const inFlight = open({ process: 4, account: 3 });
    for (let n = 0; n < 3; n++) expect(await inFlight.enter(webhook("a", `host${n}`))).to.be.a("function");
    expect(await inFlight.enter(webhook("a", "host4"))).to.equal(null);
    const leave = await inFlight.enter(webhook("b"));
    expect(leave).to.be.a("function");
    expect(await inFlight.enter(webhook("c"))).to.equal(null);
    leave?.();
    expect(await inFlight.enter(webhook("c"))).to.be.a("function");
    expect([await putOff("account"), await putOff("process")]).to.deep.equal([1, 1]);
  });

  it("are as many as docs/limits.md says: at an origin, of an account and of a process", async () => {
    const inFlight = new InFlight(new Metrics());
    const { attemptsInFlight, attemptsInFlightOfAccount, attemptsInFlightAtOrigin } = LIMITS;
    const enter = async (count: number, owner: string, hostOf: (n: number) => string) => {
      const places = Array.from({ length: count }, (_, n) => inFlight.enter(webhook(owner, hostOf(n))));
      for (const place of await Promise.all(places)) expect(place).to.be.a("function");
    };
    await enter(attemptsInFlightAtOrigin.value, "a", () => "one.example");
    expect(await inFlight.enter(webhook("a", "one.example")), "at the origin").to.equal(null);
    const ofAccount = attemptsInFlightOfAccount.value;
    await enter(ofAccount - attemptsInFlightAtOrigin.value, "a", n => `${n}.example`);
    expect(await inFlight.enter(webhook("a", "more.example")), "of the account").to.equal(null);
    await enter(attemptsInFlight.value - ofAccount, "b", n => `${n}.example`);
    expect(await inFlight.enter(webhook("c")), "of the process").to.equal(null);
  });

  it("at one origin wait for those of the same account, and for no other's", async () => {
    const inFlight = open({ origin: 1 });
    const leave = await inFlight.enter(webhook("a"));
    const second = inFlight.enter(webhook("a"));
    expect(await inFlight.enter(webhook("b"))).to.be.a("function");
    expect(await inFlight.enter(webhook("a", "other.example"))).to.be.a("function");
    leave?.();
    leave?.();
    expect(await second).to.be.a("function");
    expect(inFlight.total).to.equal(3);
  });

  /** What an agent of an account subscribed to, at a port of the host. */
  const callback = (owner_id: string, port = 443) => ({
    owner_id,
    url: `https://agents.example:${port}/${owner_id}`,
    mcp: {} as McpTerms,
  });

  it("at the callbacks of a host wait for those of all accounts, which have their turns; webhooks do not", async () => {
    const inFlight = open({ callbackHost: 2 });
    const [leave, leaveToo] = [
      await inFlight.enter(callback("a")),
      await inFlight.enter(callback("a", 8443)),
    ];
    const started: string[] = [];
    const waiting = ["a", "b"].map(async owner => {
      await inFlight.enter(callback(owner));
      started.push(owner);
    });
    expect(await inFlight.enter(webhook("a", "agents.example"))).to.be.a("function");
    leave?.();
    await Promise.race(waiting);
    expect(started, "the account with none goes first").to.deep.equal(["b"]);
    leaveToo?.();
    await Promise.all(waiting);
    expect(started).to.deep.equal(["b", "a"]);
  });

  it("at the callbacks of a host are as many as docs/limits.md says", async () => {
    const inFlight = new InFlight(new Metrics());
    const most = LIMITS.attemptsInFlightAtCallbackHost.value;
    const places = Array.from({ length: most }, (_, n) => inFlight.enter(callback(`account${n}`)));
    for (const place of await Promise.all(places)) expect(place).to.be.a("function");
    expect(await inFlight.enter(callback("more"))).to.equal(null);
  });

  it("are put off when no place becomes free, and counted", async () => {
    const inFlight = open({ origin: 1 });
    await inFlight.enter(webhook("a"));
    expect(await inFlight.enter(webhook("a"))).to.equal(null);
    expect(await putOff("origin")).to.equal(1);
    expect(inFlight.total).to.equal(1);
  });
});

import { expect } from "chai";
import { readConfig } from "../../../src/config.ts";
import { PermitCache } from "../../../src/deliveries/limits/permit-cache.ts";
import { attemptMs, permitTtlMs } from "../../../src/deliveries/limits/webhook-limits.ts";
import type { Webhook } from "../../../src/models/webhook.ts";
import { timeoutMsOf } from "../../../src/webhooks/delivery-settings.ts";
import { openTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { REQUIRED_SETTINGS } from "../../support/settings.ts";
import { until } from "../../support/until.ts";
import { subscribe, webhookOf } from "../fixtures.ts";

describe("the time that an attempt may be under way", () => {
  it("is longer than any that its webhook may take, so that nothing repeats it before it has ended", () => {
    const config = readConfig({
      ...REQUIRED_SETTINGS,
      ...{ TIMEOUTS: "attempt:5s,longest-attempt:40s,run:90s" },
    });
    for (const timeout_seconds of [1, 40, 60]) {
      const webhook = { timeout_seconds };
      expect(attemptMs({ config }, webhook)).to.be.above(timeoutMsOf(config, webhook));
    }
    expect(attemptMs({ config }, {})).to.be.within(5001, 40_000);
    expect(attemptMs({ config }, { timeout_seconds: 60 })).to.be.above(40_000);
    expect(attemptMs({ config }, { kind: "action" })).to.be.above(90_000);
  });
});

describe("permits of a process", () => {
  let platform: TestPlatform;

  beforeEach(async () => {
    platform = await openTestPlatform(
      { TIMEOUTS: "stalled:200ms", CONCURRENCY: "webhook:1" },
      { process: "deliveries" },
    );
  });
  afterEach(() => platform.destroy());

  const webhook = async () => {
    const { webhookId } = await subscribe(platform, "http://127.0.0.1:1/");
    return await webhookOf(platform, webhookId);
  };
  const held = (webhookId: string) =>
    platform.redis.zcount(platform.keys.webhookPermits(webhookId), Date.now(), "+inf");

  /** Resolves once an attempt has started that does not end. */
  const startAttempt = (permitCache: PermitCache, one: Webhook) =>
    new Promise<void>(started => {
      void permitCache.use(one, () => {
        started();
        return new Promise(() => undefined);
      });
    });

  it("expire soon after the process was killed, long before its attempt would have timed out", async () => {
    const one = await webhook();
    const limits = { permits: 1, ttlMs: permitTtlMs(platform), afterBacklog: false };
    const { acquired } = await platform.permits.acquire(one._id, ["of-a-killed-process"], limits);
    expect(acquired).to.equal(1);
    const permitCache = new PermitCache(platform, "next");
    await until(async () => (await permitCache.use(one, async () => true)) === true, { what: "a permit" });
    await permitCache.close();
  });

  it("are renewed while the process lives", async () => {
    const one = await webhook();
    const permitCache = new PermitCache(platform, "living");
    await startAttempt(permitCache, one);
    const after = Date.now() + 3 * permitTtlMs(platform);
    await until(() => Date.now() > after);
    expect(await held(one._id)).to.equal(1);
    await permitCache.close();
  });

  it("are released when the process stops", async () => {
    const one = await webhook();
    const permitCache = new PermitCache(platform, "stopping");
    await startAttempt(permitCache, one);
    expect(await held(one._id)).to.equal(1);
    await permitCache.close();
    expect(await held(one._id)).to.equal(0);
  });
});

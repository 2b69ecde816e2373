import { expect } from "chai";
import { checkSandbox } from "../../src/cli/doctor/examine.ts";
import { checkClockSkew, type Finding } from "../../src/cli/doctor/finding.ts";
import { checkQueues, checkSources } from "../../src/cli/doctor/queues.ts";
import { checkSetAside, checkWebhooks } from "../../src/cli/doctor/records.ts";
import { newId } from "../../src/lib/ids.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import { openedQueue } from "../../src/queues/define-queue.ts";
import { runs } from "../../src/queues/runs.ts";
import { SandboxHealth } from "../../src/sandbox/sandbox-health.ts";
import { UNBOUNDED } from "../../src/store/runs/run-queue.ts";
import { setAside } from "../../src/store/sweeps/set-aside.ts";
import { start as startEmissions } from "../../workers/emissions.ts";
import { storeSource } from "../sources/source-row.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";
import { environmentOf } from "../workers/worker-process.ts";
import { headwater } from "./command.ts";

const HOUR = 3_600_000;
const secondsAgo = (ms: number) => Math.floor((Date.now() - ms) / 1000);

describe("headwater doctor", () => {
  let platform: TestPlatform;
  let env: Record<string, string>;
  before(async () => {
    platform = await openTestPlatform({}, { process: "web" });
    env = environmentOf(platform.config);
  });
  after(() => platform.destroy());

  const problems = (findings: Finding[]) =>
    findings.filter(({ severity }) => severity === "problem").map(({ message }) => message);

  it("checks everything, one line each, and exits with 1 if there is a problem", async () => {
    const { code, stdout, stderr } = await headwater(["doctor", "--json"], env);
    const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Finding[] };
    const checks = findings.map(({ check }) => check);
    for (const check of [
      "MongoDB",
      "replica set",
      "disk of MongoDB",
      "clock of MongoDB",
      "Redis",
      "eviction",
    ]) {
      expect(checks, stderr).to.include(check);
    }
    for (const check of ["append-only file", "memory of Redis", "clock of Redis", "npm", "sandbox"]) {
      expect(checks).to.include(check);
    }
    for (const check of ["queue runs", "queue workflow-events", "sources", "reconciler", "webhooks"]) {
      expect(checks).to.include(check);
    }
    // No worker runs here.
    expect(ok).to.equal(false);
    expect(code).to.equal(1);
    expect(problems(findings)).to.include("no worker is connected");
    for (const finding of findings) {
      expect(finding.message).not.to.match(/\n/);
      expect(Boolean(finding.advice), `advice of: ${finding.message}`).to.equal(finding.severity !== "ok");
    }
  });

  it("says which store does not respond, and prints lines for people @long", async () => {
    const { code, stdout } = await headwater(["doctor"], { ...env, REDIS_URL: "redis://127.0.0.1:1" });
    expect(code).to.equal(1);
    expect(stdout).to.match(/^PROBLEM {3}Redis: .*did not respond.*Start it, or correct REDIS_URL$/m);
    expect(stdout).to.match(/^ok {8}MongoDB: version \d/m);
  });

  it("names wrong settings, and exits with 2 for wrong usage", async () => {
    const unset = await headwater(["doctor"], { ...env, REDIS_URL: "http://127.0.0.1" });
    expect(unset.code).to.equal(1);
    expect(unset.stdout).to.match(/^PROBLEM {3}settings: .*REDIS_URL/);
    expect((await headwater(["doctor", "--nope"], env)).code).to.equal(2);
    expect((await headwater(["doctor", "--help"], env)).stdout).to.include("Exit code: 0");
  });

  it("finds queues that are paused, have no worker, failed jobs, or jobs that wait for long", async () => {
    const queue = openedQueue(platform.queues, runs);
    const worker = startEmissions(platform);
    await worker.ready();
    await queue.add("notify", { source_id: "dc_1" }, { timestamp: Date.now() - HOUR });
    await queue.pause();
    const found = await until(async () => {
      const all = await checkQueues(platform);
      // The name of a connection is sent after it is ready.
      return problems(all.filter(({ check }) => check === "queue emissions")).length === 0 && all;
    });
    await worker.close(1000);
    const ofRuns = problems(found.filter(({ check }) => check === "queue runs"));
    expect(ofRuns).to.include.members(["is paused", "no worker is connected"]);
    expect(ofRuns.join()).to.match(/1 jobs are waiting, the oldest for 60 min/);
    await queue.resume();
    await queue.drain();
  });

  it("finds timers, deployments, deletions, changes and runs that stand still, and no healthy source", async () => {
    const timer = { cron: null, timezone: null, interval_seconds: 60 };
    const old = { updated_at: secondsAgo(HOUR) };
    await storeSource(platform, old);
    await storeSource(platform, { timer, updated_at: secondsAgo(0) });
    expect(problems(await checkSources(platform))).to.deep.equal([]);

    const stuck = await Promise.all([
      storeSource(platform, { ...old, timer }),
      storeSource(platform, { ...old, state: "deploying" }),
      storeSource(platform, { ...old, state: "deleting" }),
      storeSource(platform, { begun: { run_id: "run_1", stage: "activating", at_ms: Date.now() - HOUR } }),
      storeSource(platform),
    ]);
    const waiting = stuck[4]?._id ?? "";
    await platform.runQueue.push(waiting, ["{}"], UNBOUNDED);
    await platform.redis.zadd(platform.keys.sourcesWithRuns(), Date.now() - HOUR, waiting);
    const found = problems(await checkSources(platform));
    expect(found).to.have.length(stuck.length);
    for (const [i, { _id }] of stuck.entries()) expect(found[i]).to.match(new RegExp(`^1 .*: ${_id}$`));
  });

  it("mentions webhooks that fail or were disabled, which is no problem of the installation", async () => {
    const webhook = (fields: object) => ({
      _id: newId("wh"),
      owner_id: "u_1",
      user_id: "u_1",
      url: "https://example.test",
      active: true,
      signing_keys: [],
      header_names: [],
      created_at: 0,
      updated_at: 0,
      ...fields,
    });
    const failing = webhook({ failing_since_ms: 1 });
    const disabled = webhook({ active: false, disabled_reason: "gone" });
    await Webhooks(platform.mongo).insertMany([webhook({}), failing, disabled]);
    const found = await checkWebhooks(platform);
    expect(found.map(({ severity, message }) => [severity, message])).to.deep.equal([
      ["note", `1 are failing: ${failing._id}`],
      ["note", `1 were disabled: ${disabled._id}`],
    ]);
  });

  it("finds a machine whose clock is ahead of a store's, or behind", async () => {
    for (const [ms, direction] of [
      [HOUR, "behind"],
      [-HOUR, "ahead of"],
    ] as const) {
      const { severity, message } = await checkClockSkew("Redis", async () => Date.now() + ms);
      expect(severity).to.equal("problem");
      expect(message).to.equal(`this machine is 60 min ${direction} Redis`);
    }
    expect((await checkClockSkew("Redis", async () => Date.now())).severity).to.equal("ok");
  });

  it("lists what the reconciler has set aside, and a sandbox that can't be started", async () => {
    for (let failure = 0; failure < 3; failure++) {
      await setAside(platform, "outboxes", "run_1", new Error("a\nb"));
    }
    const [aside] = await checkSetAside(platform);
    expect(aside?.message).to.equal("run_1 of step outboxes failed 3 times: Error: a b");
    const broken = async () => {
      throw new Error("no space left", { cause: new Error("ENOSPC") });
    };
    expect(
      problems(await checkSandbox({ sandboxes: broken, sandboxHealth: new SandboxHealth() })),
    ).to.deep.equal(["no space left: ENOSPC"]);
  });
});

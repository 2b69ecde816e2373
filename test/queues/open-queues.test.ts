import { createRequire } from "node:module";
import { expect } from "chai";
import { createLogger } from "../../src/lib/logger.ts";
import { enqueue, openedQueue } from "../../src/queues/define-queue.ts";
import { openQueues } from "../../src/queues/open-queues.ts";
import { runs } from "../../src/queues/runs.ts";
import {
  openProducerRedis,
  openWorkerRedis,
  type RedisClient,
  whenReady,
} from "../../src/store/connections/redis.ts";
import { singleServer } from "../../src/store/connections/redis-url.ts";
import { openOwnRedis } from "../support/own-stores.ts";
import { until } from "../support/until.ts";

describe("opening the queues", () => {
  let server: Awaited<ReturnType<typeof openOwnRedis>>;
  let redis: RedisClient | undefined;
  before(async () => {
    server = await openOwnRedis();
  });
  afterEach(() => {
    server.thaw();
    redis?.disconnect();
  });
  after(() => server.close());

  const connected = async (open: typeof openProducerRedis) => {
    redis = open(singleServer(server.url));
    redis.on("error", () => undefined);
    await whenReady(redis, 5000);
    return redis;
  };

  /** Opens the queues, and counts the warnings about the connection. */
  function opening(client: RedisClient, deadlineMs: number) {
    const log = createLogger("test", "silent");
    let warnings = 0;
    log.warn = () => {
      warnings += 1;
    };
    const queues = openQueues([runs], { redis: client, prefix: "open", log, deadlineMs });
    return { queues, warnings: () => warnings };
  }

  it("waits for a Redis that hangs, and the queues accept jobs afterwards", async () => {
    const client = await connected(openProducerRedis);
    server.freeze();
    const { queues, warnings } = opening(client, 10_000);
    await until(() => warnings() > 0, { what: "the first command to fail" });
    server.thaw();
    const opened = await queues;
    await enqueue(opened, runs.jobs.notify, { source_id: "dc_1" });
    expect(await openedQueue(opened, runs).getWaitingCount()).to.equal(1);
    await openedQueue(opened, runs).close();
  });

  it("fails at its deadline, whether commands fail or wait", async () => {
    for (const open of [openProducerRedis, openWorkerRedis]) {
      const client = await connected(open);
      server.freeze();
      const failure = await opening(client, 200).queues.then(
        () => "opened",
        (error: Error) => error.message,
      );
      expect(failure).to.equal("Redis did not respond for queue runs");
      server.thaw();
      client.disconnect();
    }
  });
});

describe("the scheduler of the queues", () => {
  it("parses cron patterns with the same version of cron-parser that validates timers", () => {
    const own = createRequire(import.meta.url);
    const bullmqs = createRequire(own.resolve("bullmq"));
    expect(bullmqs.resolve("cron-parser")).to.equal(own.resolve("cron-parser"));
  });
});

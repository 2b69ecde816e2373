// runs-long: npm test has the other files of test/deploy

import { execFile, execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import mongoose from "mongoose";
import { ensurePrimary, mongoKind } from "../../script/lib/mongo.mjs";
import { mongodProgram } from "../../script/lib/mongod.mjs";
import { redisKind, redisProgram } from "../../script/lib/redis.mjs";
import { type StoreHandle, startOrAdopt } from "../../script/lib/store-server.mjs";
import { Deliveries } from "../../src/models/delivery.ts";
import { root } from "../docs/repository.ts";
import { Api } from "../support/api.ts";
import { type Received, type Receiver, startReceiver } from "../support/receiver.ts";
import { type System, startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { deployPath } from "./files.ts";

const TICKING = `export default { name: "Ticking", version: "0.0.1",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 1 } } },
  run() { this.$emit({ tick: Date.now() }); } };`;
/** Accepted before the backup begins, and at least so many while it is made and after it. */
const EVENTS_BEFORE = 150;
const EVENTS_AFTER = 50;
/** Published and not delivered yet. */
const MOST_WAITING = 200;

const say = () => undefined;

/** A Redis and a MongoDB on a folder whose data may be there already. */
class Stores {
  readonly folder = mkdtempSync(join(tmpdir(), "headwater-backup-"));
  readonly #handles: StoreHandle[] = [];
  #ports: { redis: number; mongo: number } = { redis: 0, mongo: 0 };

  async start(): Promise<void> {
    const hold = (handle: StoreHandle) => this.#handles.push(handle);
    const given = { folder: this.folder, hold };
    const redis = redisKind({ program: await redisProgram({ root, say }), firstPort: 0 });
    const mongo = mongoKind({ program: await mongodProgram({ root, say }), firstPort: 0, root });
    const started = [await startOrAdopt(redis, given), await startOrAdopt(mongo, given)];
    const [{ port: redisPort } = { port: 0 }, { port: mongoPort } = { port: 0 }] = started;
    this.#ports = { redis: redisPort, mongo: mongoPort };
    await ensurePrimary(mongoPort, root);
  }

  get redisUrl(): string {
    return `redis://127.0.0.1:${this.#ports.redis}`;
  }

  mongoUrl(database: string): string {
    return `mongodb://127.0.0.1:${this.#ports.mongo}/${database}?replicaSet=rs0`;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#handles.map(handle => handle.stop(10_000)));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Copies the files of MongoDB while it lets no write through, as a snapshot of its disk would. */
async function copyMongo(stores: Stores, target: string): Promise<void> {
  const connection = await mongoose.createConnection(stores.mongoUrl("admin")).asPromise();
  try {
    await connection.db?.admin().command({ fsync: 1, lock: true });
    cpSync(join(stores.folder, "mongo"), target, {
      recursive: true,
      filter: file => !file.endsWith("mongod.lock"),
    });
  } finally {
    await connection.db?.admin().command({ fsyncUnlock: 1 });
    await connection.close();
  }
}

const numberIn = ({ raw }: Received): number | undefined => (JSON.parse(raw) as { n?: number }).n;

describe("a backup of Redis, and after it of MongoDB, made under load", () => {
  const env = {
    REDIS_PREFIX: "backup",
    SECRETS_KEY: randomBytes(32).toString("base64"),
    DELIVERY_RETRY_SCHEDULE: "3s,3s,3s",
  };
  let first: Stores;
  let second: Stores;
  let receiver: Receiver;
  let system: System | undefined;

  before(async () => {
    [first, second] = [new Stores(), new Stores()];
    await first.start();
    const failedOnce = new Set<number>();
    // One in seven fails at first, so that the backup holds retries.
    receiver = await startReceiver(request => {
      const n = numberIn(request);
      if (n === undefined || n % 7 !== 0 || failedOnce.has(n)) return 200;
      failedOnce.add(n);
      return 500;
    });
  });
  after(async () => {
    await system?.stop();
    await receiver?.close();
    await Promise.all([first?.stop(), second?.stop()]);
  });

  it("restores into empty stores: nothing accepted before it is lost, nothing arrives under a second id, timers fire", async () => {
    const settingsOf = (stores: Stores) => ({
      ...env,
      ...{ REDIS_URL: stores.redisUrl, MONGODB_URL: stores.mongoUrl("headwater") },
    });
    system = await startSystem(settingsOf(first));
    const api = await system.user({ plan: "paid" });
    const { id: workflow } = await api.expect<{ id: string }>(201, "POST", "/workflows", {
      body: { name: "Flow" },
    });
    const webhook = await api.createWebhook(receiver.url);
    await api.subscribe(workflow, webhook.id);
    const timer = await api.createSource({ name: "ticking", component_code: TICKING });
    await api.subscribe(timer.id, webhook.id);

    const ticksSince = async (client: Api, ms: number) =>
      (await client.summaries(timer.id)).filter(({ indexed_at_ms }) => indexed_at_ms > ms).length;
    await until(async () => (await ticksSince(api, 0)) > 0, { what: "ticks before the backup" });

    const accepted = new Set<number>();
    const rejected = new Set<number>();
    const arrived = () => new Set(receiver.requests.map(numberIn));
    let next = 0;
    let isLoading = true;
    const publish = async () => {
      while (isLoading) {
        // A busy machine delivers slower than three loops publish, and what waits must be delivered within a deadline.
        await until(() => next - rejected.size - arrived().size < MOST_WAITING, {
          what: "what waits to become less",
        });
        const n = next++;
        const { status } = await api.request("POST", `/workflows/${workflow}/events`, {
          body: { event: { n } },
        });
        // MongoDB takes no writes while it is copied.
        (status === 202 ? accepted : rejected).add(n);
      }
    };
    const load = Promise.all([publish(), publish(), publish()]);
    await until(() => accepted.size >= EVENTS_BEFORE, { what: "events before the backup" });
    const before = [...accepted];
    const file = join(second.folder, "redis.rdb");
    // Not execFileSync: the whole system is in this process, and works on.
    await promisify(execFile)(deployPath("backup-redis"), [first.redisUrl, file]);
    // What waits in Redis' copy and is not handled before MongoDB's comes again as new (deploy/README.md#backup-and-restore).
    const inRedis = next;
    await until(() => Array.from({ length: inRedis }).every((_, n) => rejected.has(n) || arrived().has(n)), {
      what: "what Redis' copy may hold to be handled",
    });
    await copyMongo(first, join(second.folder, "mongo"));
    const during = accepted.size;
    await until(() => accepted.size >= during + EVENTS_AFTER, { what: "events after the backup" });
    isLoading = false;
    await load;
    await until(() => [...accepted].every(n => arrived().has(n)), { what: "all deliveries" });
    await system.stop();
    system = undefined;
    await first.stop();

    const keys = execFileSync(deployPath("restore-redis"), [file, join(second.folder, "redis")], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    expect(Number.parseInt(keys, 10)).to.be.above(10);
    await second.start();
    const restoredAt = Date.now();
    system = await startSystem(settingsOf(second));
    const { worker } = system;
    const again = new Api(system.baseUrl, api.apiKey);
    const ofFlow = { webhook_id: webhook.id, emitter_id: workflow };
    await until(async () => (await Deliveries(worker.mongo).countDocuments(ofFlow)) >= before.length, {
      what: "a delivery of each event that was accepted before",
    });
    await until(
      async () => (await Deliveries(worker.mongo).countDocuments({ ...ofFlow, state: "pending" })) === 0,
      {
        what: "the retries that the backup held",
      },
    );
    await until(async () => (await ticksSince(again, restoredAt)) >= 2, { what: "ticks after the restore" });
    await again.expect(202, "POST", `/workflows/${workflow}/events`, { body: { event: { n: -1 } } });
    await until(() => arrived().has(-1), { what: "an event that is published after the restore" });

    const ids = new Map<number, Set<unknown>>();
    for (const request of receiver.requests) {
      const n = numberIn(request);
      if (n === undefined) continue;
      ids.set(n, (ids.get(n) ?? new Set()).add(request.headers["webhook-id"]));
    }
    const twice = [...ids].filter(([, of]) => of.size > 1).map(([n]) => n);
    expect(twice, "events under two ids").to.deep.equal([]);
    for (const n of before) expect(ids.has(n), `event ${n}`).to.equal(true);
  });

  it("rejects a folder that is not empty", () => {
    expect(() =>
      execFileSync(deployPath("restore-redis"), ["none.rdb", root], { stdio: ["ignore", "pipe", "pipe"] }),
    ).to.throw(/is not empty/);
  });
});

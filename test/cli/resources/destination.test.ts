// runs-long: npm test has test/destinations and test/cli/resources/subscription.test.ts

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type AccountRedis, openAccountRedis, PASSWORD } from "../../support/account-redis.ts";
import type { Api } from "../../support/api.ts";
import { type Bucket, KEYS, openBucket } from "../../support/bucket.ts";
import { type System, startSystem } from "../../support/system.ts";
import { until } from "../../support/until.ts";
import { commandsWith, headwater, withInput } from "../command.ts";

describe("headwater destination", () => {
  let system: System;
  let redis: AccountRedis;
  let bucket: Bucket;
  let api: Api;
  let env: Record<string, string>;
  let flow: string;
  let folder: string;
  before(async () => {
    system = await startSystem();
    [redis, bucket] = await Promise.all([openAccountRedis(), openBucket()]);
    folder = await mkdtemp(join(tmpdir(), "headwater-destination-"));
    api = await system.user();
    env = { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey };
    flow = (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
    await bucket?.stop();
    await redis?.close();
    await system?.stop();
  });

  const { printed, json, failure, misuse } = commandsWith(() => env);
  const address = () => `redis://127.0.0.1:${redis.port}`;

  /** Runs a command that reads a secret, which must succeed and print nothing of it. */
  async function withSecret(secret: string, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await withInput(["destination", ...args], env, secret);
    expect(code, stderr).to.equal(0);
    expect(stdout + stderr).not.to.include(secret);
    return stdout;
  }

  const createStream = (name: string, password = PASSWORD) =>
    withSecret(
      password,
      ...["create", "redis_stream", address(), "--stream", "x", "--secret", "--name", name],
    );

  it("creates a stream with a password from the standard input, and delivers to it by its name", async () => {
    const created = await withSecret(
      PASSWORD,
      ...["create", "redis_stream", address(), "--stream", "orders", "--secret"],
      ...["--name", "archive", "--max-length", "1000", "--rate-limit", "50"],
    );
    expect(created)
      .to.match(/^kind +redis_stream$/m)
      .and.to.match(/^stream +orders$/m)
      .and.to.match(/^max length +1000$/m)
      .and.to.match(/^has password +yes$/m)
      .and.to.match(/^rate limit +50\/s$/m);
    const { id } = await json("destination", "show", "archive");
    expect(await printed("destination", "list", "--ids")).to.match(
      new RegExp(`^archive +${id} +redis_stream +active +${address()}$`, "m"),
    );
    expect(await printed("destination", "test", "archive")).to.match(/^status +200$/m);
    await printed("subscription", "create", flow, "archive");
    await printed("publish", flow, "--event", '{"n": 1}');
    const payloads = async () =>
      (await redis.entries("orders")).map(({ payload }) => JSON.parse(payload ?? ""));
    await until(async () => (await payloads()).some(({ n }) => n === 1));
    const [delivery] = await until(async () => {
      const rows = await json("delivery", "list", "--webhook", "archive", "--state", "delivered");
      return rows.length > 0 && rows;
    });
    expect(delivery.webhook_id).to.equal(id);
    expect(await printed("delivery", "recover", "archive", "--since", "1h", "--dry-run")).to.match(
      /^failed +0$/m,
    );
  });

  it("changes what is given, keeps the secret until the address changes, and asks for another", async () => {
    await createStream("moved");
    expect(await json("destination", "update", "moved", "--stream", "b", "--ordered")).to.deep.include({
      ordered: true,
      redis_stream: {
        ...{ url: address(), username: null, has_password: true, stream: "b", max_length: 100_000, ca: null },
      },
    });
    const elsewhere = await json("destination", "update", "moved", "--address", "rediss://redis.example.com");
    expect(elsewhere.redis_stream).to.include({ has_password: false, stream: "b" });
    await withSecret(PASSWORD, "update", "moved", "--address", address(), "--secret");
    expect(await printed("destination", "test", "moved")).to.match(/^status +200$/m);
    await printed("destination", "disable", "moved");
    expect((await json("destination", "show", "moved")).active).to.equal(false);
    await printed("destination", "enable", "moved");
    expect(await printed("destination", "delete", "moved", "--yes")).to.match(
      /^moved \(ds_\w+\) was deleted\.$/m,
    );
    expect(await failure("destination", "show", "moved")).to.include("destination: none is called moved");
  });

  it("asks for the secret key of a bucket", async () => {
    const args = ["create", "s3", bucket.url, "--region", KEYS.region, "--access-key-id", KEYS.access_key_id];
    await withSecret(KEYS.secret_access_key, ...args, "--name", "bucket", "--object-key", "{id}.json");
    expect(await printed("destination", "show", "bucket")).to.match(/^key +\{id\}\.json$/m);
    await printed("destination", "test", "bucket");
    expect(bucket.puts).to.equal(1);
    const none = await withInput(["destination", ...args], env, "");
    expect([none.code, none.stderr]).to.deep.equal([
      1,
      "headwater: secret access key: nothing was given on the standard input\n",
    ]);
  });

  it("exits with 1 if the destination does not confirm a test", async () => {
    await createStream("closed", "wrong");
    const { code, stdout } = await headwater(["destination", "test", "closed"], env);
    expect(code).to.equal(1);
    expect(stdout).to.match(/^error +rejected: /m);
  });

  it("names what is wrong, and takes no password from its arguments", async () => {
    const url = "redis://user:s3cret@redis.example.com";
    const shown = await misuse("destination", "create", "redis_stream", url, "--stream", "x");
    expect(shown).to.include("url: give the password with --secret").and.not.to.include("s3cret");
    expect(await failure("destination", "create", "redis_stream", address())).to.include(
      "redis_stream.stream",
    );
    expect(
      await failure("destination", "create", "rabbitmq", "amqp://rabbit.example.com", "--stream", "x"),
    ).to.include("rabbitmq.stream");
    await writeFile(join(folder, "ca.pem"), "no certificate");
    expect(
      await failure(
        ...["destination", "create", "redis_stream", address(), "--stream", "x"],
        ...["--ca", join(folder, "absent.pem")],
      ),
    ).to.match(/absent\.pem can't be read/);
    await createStream("two");
    await createStream("two");
    expect(await failure("destination", "show", "two")).to.match(/several are called two.*ds_\w+, ds_\w+/);
    const { id } = await json("destination", "show", "archive");
    expect(await misuse("destination", "update", id)).to.include("nothing to change");
    expect((await headwater(["destination", "create", "kafka", "kafka://x"], env)).code).to.equal(2);
  });

  it("is not found by another account", async () => {
    const { id } = await json("destination", "show", "archive");
    const other = { ...env, HEADWATER_API_KEY: (await system.user()).apiKey };
    for (const command of ["show", "test", "enable", "delete"]) {
      const { code, stderr } = await headwater(["destination", command, id], other);
      expect([code, stderr]).to.deep.equal([1, stderr]);
      expect(stderr).to.include("destination not found");
    }
  });
});

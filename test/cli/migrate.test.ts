// runs-long: npm test has test/store/schema

import { expect } from "chai";
import { SCHEMA } from "../../src/store/schema/migrations.ts";
import { indexNamesOf, openDatabase, setUpAsBefore, type TestDatabase } from "../store/schema/databases.ts";
import { testConfig } from "../support/platform.ts";
import { until } from "../support/until.ts";
import { environmentOf, spawnWorker } from "../workers/worker-process.ts";
import { headwater, startHeadwater } from "./command.ts";

/** Enough for builds of indexes that take a while. */
const EVENTS = 40_000;
const FEW = 1000;
const KILLS = 3;

describe("headwater migrate", () => {
  let database: TestDatabase;
  let env: Record<string, string>;
  beforeEach(async () => {
    database = await openDatabase();
    env = { ...environmentOf(testConfig({ MONGODB_URL: database.url })), NODE_ENV: "test" };
  });
  afterEach(() => database.drop());

  /** Leaves a database with documents that lacks two indexes of large collections. */
  const setUpWithoutIndexes = async ({ db } = database, count = EVENTS) => {
    await setUpAsBefore(db);
    for (const collection of ["events", "deliveries"]) {
      const rows = Array.from({ length: count }, (_, n) => ({
        emitter_id: `p_${n}`,
        webhook_id: `wh_${n}`,
        score: n,
      }));
      await db.collection(collection).insertMany(rows);
    }
    await db.collection("events").dropIndex("emitter_id_1_score_1");
    await db.collection("deliveries").dropIndex("webhook_id_1__id_-1");
  };
  const isComplete = async ({ db } = database) => {
    expect(await indexNamesOf(db, "events")).to.include("emitter_id_1_score_1");
    expect(await indexNamesOf(db, "deliveries")).to.include("webhook_id_1__id_-1");
    const [state] = await db
      .collection("schema")
      .find({ applied: { $exists: true } })
      .toArray();
    expect(state).to.include({ version: SCHEMA });
  };

  it("brings a database up to date, says what it does, and does nothing the next time", async () => {
    await setUpWithoutIndexes();
    const planned = await headwater(["migrate", "--dry-run"], env);
    expect(planned.stdout).to.match(/^the database has schema 0, this release needs \d+$/m);
    expect(planned.stdout).to.match(/^it lacks .*events\.emitter_id_1_score_1/m);
    expect(planned.stdout).to.match(/^ {2}1 the first indexes \(expand\): would run$/m);
    expect(await indexNamesOf(database.db, "events")).not.to.include("emitter_id_1_score_1");

    const first = await headwater(["migrate"], env);
    expect(first.code, first.stderr).to.equal(0);
    expect(first.stdout).to.match(/^1 the first indexes \(expand\) …$/m);
    expect(first.stdout).to.match(new RegExp(`emitter_id_1_score_1 of events, ${EVENTS} documents$`, "m"));
    await isComplete();
    // What releases before could not work with is left to a later run, when their processes have ended.
    const again = await headwater(["migrate"], env);
    expect(again.stdout).to.match(
      /^\d+ packed bundles waits: run `headwater migrate --contract` once no process of/m,
    );
    expect(again.stdout).to.match(new RegExp(`^schema ${SCHEMA}: nothing to do$`, "m"));
    const later = await headwater(["migrate", "--contract"], env);
    expect(later.stdout).to.match(/^\d+ packed bundles \(contract\) …$/m);
    const last = await headwater(["migrate"], env);
    expect(last).to.include({ code: 0, stdout: `schema ${SCHEMA}: nothing to do\n` });
    expect((await headwater(["migrate", "--status"], env)).stdout).to.match(/\nnothing to do\n$/);
  });

  it("stays under a runner that ends all processes of a Procfile with the first, and nowhere else", async () => {
    for (const runner of ["HONCHO_PROCESS_NAME", "FOREMAN_WORKER_NAME", "PS"]) {
      const command = startHeadwater(["migrate"], { ...env, [runner]: "release.1" });
      await until(() => command.stderr().includes("Stays until the runner"));
      command.kill("SIGTERM");
      expect((await command.ended).code).to.equal(0);
    }
    const heroku = await headwater(["migrate"], { ...env, PS: "release.1", DYNO: "release.1" });
    expect(heroku).to.include({ code: 0, stderr: "" });
    expect((await headwater(["migrate", "--status"], { ...env, PS: "release.1" })).code).to.equal(0);
  });

  it("killed between any two of its steps loses nothing, and goes on the next time", async () => {
    const kill = async (failpoint: string) => {
      const one = await openDatabase();
      try {
        await setUpWithoutIndexes(one, FEW);
        const settings = { ...env, MONGODB_URL: one.url };
        const killed = await headwater(["migrate"], { ...settings, HEADWATER_FAILPOINT: failpoint });
        expect(killed.stdout, failpoint).not.to.match(/^schema/m);
        const next = await headwater(["migrate"], settings);
        expect(next.code, next.stderr).to.equal(0);
        await isComplete(one);
      } finally {
        await one.drop();
      }
    };
    await Promise.all(["migration-begun", "index-created", "migration-run", "migration-recorded"].map(kill));
  });

  it("killed with -9 at any moment is completed by a later one", async () => {
    await setUpWithoutIndexes();
    for (let kill = 0; kill < KILLS; kill++) {
      const running = startHeadwater(["migrate"], env);
      const wait = Math.random() * 300;
      await until(() => running.stdout() !== "", { what: "its first line" });
      await new Promise(resolve => setTimeout(resolve, wait));
      running.kill("SIGKILL");
      await running.ended;
    }
    const last = await headwater(["migrate"], env);
    expect(last.code, last.stderr).to.equal(0);
    await isComplete();
  });

  it("sets an empty database up, by two at once too", async () => {
    const both = await Promise.all([headwater(["migrate"], env), headwater(["migrate"], env)]);
    expect(both.map(({ code }) => code)).to.deep.equal([0, 0]);
    const last = both.map(({ stdout }) => stdout.trim().split("\n").at(-1)).sort();
    expect(last).to.deep.equal([`schema ${SCHEMA}`, `schema ${SCHEMA}: nothing to do`]);
    expect(await indexNamesOf(database.db, "events")).to.include("emitter_id_1_score_1");
  });

  it("is named by a process that ends because the schema is too old, with one line and code 78", async () => {
    await setUpWithoutIndexes();
    for (const name of ["web", "deliveries", "all"]) {
      const child = spawnWorker(name, env);
      expect(await child.ended, child.output()).to.equal(78);
      expect(child.output().trim()).to.match(
        /^(headwater )?\w+: MONGODB_URL: this database has schema 0, this release needs \d+: run `headwater migrate`$/,
      );
    }
    const command = await headwater(["org", "create", "--name", "Acme", "--owner", "u_1"], env);
    expect(command.stderr).to.match(/^headwater: MONGODB_URL: this database has schema 0/);
    const examined = await headwater(["doctor"], env);
    expect(examined.stdout).to.match(/^PROBLEM {3}schema: .*run `headwater migrate`/m);
  });

  it("and every process reject a database that a newer release has contracted, with code 78", async () => {
    await setUpAsBefore(database.db);
    const newer = { version: SCHEMA + 5, works_from: SCHEMA + 1, applied: [] };
    await database.db.collection<{ _id: string }>("schema").insertOne({ _id: "state", ...newer });
    const line =
      /MONGODB_URL: this database has schema \d+, which releases before schema \d+ can't use.*: run a newer release$/;
    for (const args of [["migrate"], ["migrate", "--status"], ["key", "list", "u_1"]]) {
      const command = await headwater(args, env);
      expect(command.code, args.join(" ")).to.equal(78);
      expect(command.stderr.trim()).to.match(line);
    }
    const child = spawnWorker("web", env);
    expect(await child.ended).to.equal(78);
    expect(child.output().trim()).to.match(line);
  });

  it("and every process reject a state of the schema that is not ours, with code 78", async () => {
    await setUpAsBefore(database.db);
    const schema = database.db.collection<{ _id: string }>("schema");
    await schema.insertOne({ _id: "state", version: "abc" } as { _id: string });
    const line = /MONGODB_URL: the document state of the collection schema is not one of Headwater's/;
    for (const args of [["migrate"], ["migrate", "--status"]]) {
      const command = await headwater(args, env);
      expect(command.code, args.join(" ")).to.equal(78);
      expect(command.stderr).to.match(line);
    }
    const child = spawnWorker("runs", env);
    expect(await child.ended, child.output()).to.equal(78);
    expect(child.output()).to.match(line);
  });

  it("says in one line what is wrong with a setting, and exits with 78", async () => {
    const bad = await headwater(["migrate"], { ...env, MONGODB_URL: "mongo" });
    expect(bad.code).to.equal(78);
    expect(bad.stderr).to.match(/^headwater: configuration: MONGODB_URL .*\n$/);
    expect((await headwater(["migrate", "--nope"], env)).code).to.equal(2);
  });
});

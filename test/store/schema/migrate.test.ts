import { expect } from "chai";
import { backfill } from "../../../src/store/schema/backfill.ts";
import { migrate, printPlan } from "../../../src/store/schema/migrate.ts";
import type { Migration } from "../../../src/store/schema/migration.ts";
import { acquireSchemaLock } from "../../../src/store/schema/schema-lock.ts";
import { readState } from "../../../src/store/schema/state.ts";
import { until } from "../../support/until.ts";
import { addUser, migration, openDatabase, ran, type TestDatabase } from "./databases.ts";

describe("migrations", () => {
  let database: TestDatabase;
  let lines: string[];
  beforeEach(async () => {
    database = await openDatabase();
    lines = [];
  });
  afterEach(() => database.drop());

  const say = (line: string) => void lines.push(line);
  const run = (migrations: Migration[], mayContract = false) =>
    migrate(database.db, { migrations, mayContract, say });

  it("run once each, in order, with a line for each", async () => {
    await addUser(database.db);
    await run([migration(1)]);
    await run([migration(1), migration(2, { kind: "backfill" }), migration(3)]);
    expect(await ran(database.db)).to.deep.equal([1, 2, 3]);
    expect(await readState(database.db)).to.deep.equal({ version: 3, works_from: 0, applied: [1, 2, 3] });
    const said = lines.filter(line => !/^\d done in \d+\.\d s$/.test(line));
    expect(said).to.deep.equal([
      "1 step 1 (expand) …",
      "schema 1",
      "2 step 2 (backfill) …",
      "3 step 3 (expand) …",
      "schema 3",
    ]);
    lines = [];
    await run([migration(1), migration(2), migration(3)]);
    expect(lines).to.deep.equal(["schema 3: nothing to do"]);
  });

  it("that fail keep those before them, and run again", async () => {
    await addUser(database.db);
    let failures = 1;
    const broken = migration(2, {
      run: async () => {
        if (failures-- > 0) throw new Error("disk full");
      },
    });
    const failed = await run([migration(1), broken, migration(3)]).catch((error: Error) => error.message);
    expect(failed).to.equal("disk full");
    expect(await readState(database.db)).to.deep.include({ version: 1 });
    await run([migration(1), broken, migration(3)]);
    expect(await ran(database.db)).to.deep.equal([1, 3]);
    expect(await readState(database.db)).to.deep.include({ version: 3 });
  });

  it("run in one process at a time: a second one waits, says so, and then has nothing to do", async () => {
    await addUser(database.db);
    let goOn = () => {};
    const held = new Promise<void>(resolve => {
      goOn = resolve;
    });
    const slow = migration(1, {
      run: async context => {
        await held;
        await migration(1).run(context);
      },
    });
    const first = run([slow]);
    await until(() => lines.length > 0);
    const second = run([slow]);
    await until(() => lines.includes("another process is changing the schema: waiting for it"));
    goOn();
    await Promise.all([first, second]);
    expect(await ran(database.db)).to.deep.equal([1]);
    expect(lines.at(-1)).to.equal("schema 1: nothing to do");
  });

  it("that remove something wait for the operator's word and for their schema, and run on an empty database", async () => {
    const all = [migration(1), migration(2), migration(3, { kind: "contract", worksFrom: 2 }), migration(4)];
    await addUser(database.db);
    await run(all);
    expect(await ran(database.db)).to.deep.equal([1, 2, 4]);
    expect(lines).to.include(
      "3 step 3 waits: run `headwater migrate --contract` once no process of a release before schema 2 is running",
    );
    // As a release phase that is repeated before any new process has started.
    await run(all);
    expect(await ran(database.db)).to.deep.equal([1, 2, 4]);
    await run(all, true);
    expect(await ran(database.db)).to.deep.equal([1, 2, 4, 3]);
    expect(await readState(database.db)).to.deep.equal({ version: 4, works_from: 2, applied: [1, 2, 3, 4] });

    const empty = await openDatabase();
    await migrate(empty.db, { migrations: all, say });
    expect(await ran(empty.db)).to.deep.equal([1, 2, 3, 4]);
    await empty.drop();
  });

  it("that remove something wait even with the operator's word if the database gets their schema only now", async () => {
    await addUser(database.db);
    await run([migration(1)]);
    await run([migration(1), migration(2), migration(3, { kind: "contract", worksFrom: 2 })], true);
    expect(await ran(database.db)).to.deep.equal([1, 2]);
  });

  it("can be printed before they run, which changes nothing", async () => {
    await addUser(database.db);
    await run([migration(1)]);
    lines = [];
    const all = [migration(1), migration(2), migration(3, { kind: "contract", worksFrom: 2 })];
    await printPlan(database.db, { migrations: all, say });
    expect(lines).to.deep.equal([
      "the database has schema 1, this release needs 2",
      "  1 step 1 (expand): applied",
      "  2 step 2 (expand): would run",
      "  3 step 3 (contract): waits",
      "3 step 3 waits: run `headwater migrate --contract` once no process of a release before schema 2 is running",
    ]);
    expect(await ran(database.db)).to.deep.equal([1]);
  });

  it("of a newer release are left alone, unless they have removed what this one needs", async () => {
    await addUser(database.db);
    await run([migration(1), migration(2)]);
    lines = [];
    await run([migration(1)]);
    expect(lines).to.deep.equal(["schema 2: nothing to do"]);
    await run([migration(1), migration(2), migration(3, { kind: "contract", worksFrom: 2 })], true);
    const failed = await run([migration(1)]).catch((error: Error) => error.message);
    expect(failed).to.match(/has schema 2, which releases before schema 2 can't use/);
  });

  it("fill in what documents lack, batch by batch, and go on where they were ended", async () => {
    const users = database.db.collection<{ _id: number; plan?: string; seen?: number }>("users");
    await users.insertMany(
      Array.from({ length: 95 }, (_, _id) => (_id % 10 === 0 ? { _id, plan: "paid" } : { _id })),
    );
    let batches = 0;
    const fill = migration(1, {
      kind: "backfill",
      run: context =>
        backfill(
          {
            ...context,
            storePosition: async position => {
              await context.storePosition(position);
              if (++batches === 3) throw new Error("killed");
            },
          },
          "users",
          {
            filter: { plan: { $exists: false } },
            change: [{ $set: { plan: "free", seen: { $add: [{ $ifNull: ["$seen", 0] }, 1] } } }],
            batch: 10,
          },
        ),
    });
    expect(await run([fill]).catch((error: Error) => error.message)).to.equal("killed");
    expect(await users.countDocuments({ plan: "free" })).to.equal(30);
    await run([fill]);
    expect(lines).to.include("  continues after 30 documents of users");
    expect(lines).to.include("  85 documents of users");
    expect(await users.countDocuments({ plan: "free", seen: 1 })).to.equal(85);
    expect(await users.countDocuments({ plan: "paid", seen: { $exists: false } })).to.equal(10);
    expect(await database.db.collection("schema").countDocuments()).to.equal(1);
  });

  it("stop when another process has taken the lock", async () => {
    await addUser(database.db);
    const lock = await acquireSchemaLock(database.db, 300);
    await database.db
      .collection<{ _id: string }>("schema")
      .updateOne({ _id: "lock" }, { $set: { holder: "another", until: new Date(Date.now() + 60_000) } });
    await until(() => lock?.lost.aborted);
    await lock?.release();
    expect(await acquireSchemaLock(database.db, 300)).to.equal(null);
  });

  it("keep the lock for as long as their process lives, and no longer @long", async () => {
    const lock = await acquireSchemaLock(database.db, 3000);
    const held = () =>
      database.db.collection<{ _id: string; until: Date }>("schema").findOne({ _id: "lock" });
    const first = (await held())?.until.getTime() ?? 0;
    await until(async () => ((await held())?.until.getTime() ?? 0) > first + 3000, {
      what: "renewed past its first end",
    });
    expect(await acquireSchemaLock(database.db, 500)).to.equal(null);
    await lock?.release();
    const killed = await openDatabase(database.url);
    expect(await acquireSchemaLock(killed.db, 500)).not.to.equal(null);
    await killed.connection.close();
    const next = await until(() => acquireSchemaLock(database.db, 500));
    await next.release();
  });
});

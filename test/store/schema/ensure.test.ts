// Declares every model.
import "../../../src/app.ts";

import { expect } from "chai";
import { SetupError } from "../../../src/lib/errors.ts";
import { openMongo } from "../../../src/store/connections/mongo.ts";
import { ensureSchema } from "../../../src/store/schema/ensure.ts";
import { migrate } from "../../../src/store/schema/migrate.ts";
import { MIGRATIONS, SCHEMA } from "../../../src/store/schema/migrations.ts";
import { acquireSchemaLock } from "../../../src/store/schema/schema-lock.ts";
import { readState } from "../../../src/store/schema/state.ts";
import {
  addUser,
  indexNamesOf,
  migration,
  openDatabase,
  ran,
  setUpAsBefore,
  type TestDatabase,
} from "./databases.ts";

/** What is compared of an index; the server adds fields of its own. */
const shapeOf = ({ key, unique, expireAfterSeconds, partialFilterExpression }: Record<string, unknown>) => ({
  key,
  unique: unique ?? false,
  expireAfterSeconds,
  partialFilterExpression,
});

describe("the schema at the start of a process", () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await openDatabase();
  });
  afterEach(() => database.drop());

  const ensured = async (migrations = MIGRATIONS): Promise<unknown> => {
    try {
      await ensureSchema(database.connection, migrations);
      return "starts";
    } catch (error) {
      expect(error).to.be.instanceOf(SetupError);
      return (error as Error).message;
    }
  };

  it("is set up in an empty database: the indexes that the models declare, and no others", async () => {
    const mongo = await openMongo(database.url, { producer: true, deadlineMs: 10_000 });
    try {
      expect(await readState(database.db)).to.deep.include({ version: SCHEMA });
      const collections = Object.keys(mongo.models);
      expect(collections).to.include.members(["deliveries", "rollups"]);
      for (const collection of collections) {
        const declared = mongo.models[collection]?.schema.indexes() ?? [];
        const found = await database.db.collection(collection).indexes();
        const shapes = found.filter(({ name }) => name !== "_id_").map(index => shapeOf(index));
        const wanted = declared.map(([key, options]) => shapeOf({ ...options, key }));
        expect(shapes, `${collection}: an index needs a migration (CONTRIBUTING.md)`).to.have.deep.members(
          wanted,
        );
      }
    } finally {
      await mongo.close();
    }
  });

  it("is set up once if many processes come first at the same time", async () => {
    const migrations = [migration(1), migration(2)];
    const all = await Promise.all(Array.from({ length: 8 }, () => ensured(migrations)));
    expect(all).to.deep.equal(Array(8).fill("starts"));
    expect(await ran(database.db)).to.deep.equal([1, 2]);
  });

  it("is set up by another process if the first one is killed while it does so", async () => {
    // What it leaves: its lock, and a part of the collections.
    const killed = await openDatabase(database.url);
    await acquireSchemaLock(killed.db, 300);
    await killed.connection.close();
    await database.db.createCollection("users");
    expect(await ensured()).to.equal("starts");
    expect(await indexNamesOf(database.db, "users")).to.include("email_1");
  });

  it("of a release before schemas counts as the first one, and gets no index from a process", async () => {
    await setUpAsBefore(database.db);
    expect(await ensured([migration(1)])).to.equal("starts");
    expect(await readState(database.db)).to.deep.equal({ version: 1, works_from: 0, applied: [1] });
    expect(await ran(database.db)).to.deep.equal([]);
  });

  it("that lacks an index stops the process, which creates none; headwater migrate does", async () => {
    await setUpAsBefore(database.db);
    await database.db.collection("users").dropIndex("email_1");
    expect(await ensured()).to.equal(
      `MONGODB_URL: this database has schema 0, this release needs ${SCHEMA}: run \`headwater migrate\``,
    );
    expect(await indexNamesOf(database.db, "users")).not.to.include("email_1");
    await migrate(database.db, { migrations: MIGRATIONS, say: () => undefined });
    expect(await indexNamesOf(database.db, "users")).to.include("email_1");
    expect(await ensured()).to.equal("starts");
  });

  it("may be newer, until a contract has removed what the release needs", async () => {
    await addUser(database.db);
    const [one, two, three] = [migration(1), migration(2), migration(3)];
    const removal = migration(4, { kind: "contract", worksFrom: 3 });
    const say = () => undefined;
    await migrate(database.db, { migrations: [one, two, three, removal], say });
    expect(await ensured([one, two])).to.equal("starts");
    expect(await ensured([one, two, three, removal, migration(5)])).to.match(
      /has schema 3, this release needs 5: run `headwater migrate`$/,
    );
    await migrate(database.db, { migrations: [one, two, three, removal], mayContract: true, say });
    expect(await ensured([one, two])).to.match(
      /has schema 3, which releases before schema 3 can't use; this release has schema 2: run a newer release$/,
    );
    expect(await ensured([one, two, three])).to.equal("starts");
  });
});

import { expect } from "chai";
import type { Client } from "pg";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import { TEST_TLS } from "../egress/test-tls.ts";
import { openTestSandboxes } from "../examples/open-example.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { openSource, runAction } from "./open-shipped.ts";

interface Row {
  id: number;
  at: string;
  name: string;
}

describe("the gallery's PostgreSQL", () => {
  let sandboxes: Sandboxes;
  let postgres: Postgres;
  let database: Client;
  before(async function () {
    this.timeout(120_000);
    postgres = await startPostgres(this);
    database = await postgres.connect();
    sandboxes = await openTestSandboxes();
  });
  beforeEach(async () => {
    await database.query(`DROP SCHEMA IF EXISTS "Shop" CASCADE; CREATE SCHEMA "Shop"`);
  });
  after(async () => {
    await sandboxes?.close();
    await postgres?.close();
  });

  describe("source", () => {
    const KEY = "headwater-postgres-rows";
    const TABLE = "Shop.orders";
    beforeEach(async () => {
      await database.query(
        `CREATE TABLE "Shop".orders (id bigserial PRIMARY KEY, at timestamptz, name text DEFAULT 'x')`,
      );
    });
    const open = (given: object = {}) =>
      openSource(sandboxes, KEY, { url: postgres.url, table: TABLE, order: "at", ...given });
    /** Rows a second apart, the last one now. */
    const insert = async (from: number, to: number, client = database) => {
      await client.query(
        `INSERT INTO "Shop".orders (id, at) SELECT n, now() - ($2 - n) * interval '1 second' FROM generate_series($1::int, $2::int) n`,
        [from, to],
      );
    };
    const deployed = async (given: object = {}) => {
      const source = await open(given);
      expect((await source.call("deploy")).failed).to.equal(null);
      return source;
    };
    const ids = (events: unknown[]) => (events as Row[]).map(({ id }) => id);
    const numbered = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, at) => from + at);

    it("emits what is added, the oldest first, each once, over many looks and more rows than one look takes", async () => {
      await insert(1, 5);
      const source = await deployed({ most: 400 });
      expect(await source.events()).to.deep.equal([]);
      await insert(6, 1005);
      const looks: unknown[][] = [];
      for (let look = 0; look < 4; look += 1) looks.push(await source.events());
      expect(looks.map(({ length }) => length)).to.deep.equal([400, 400, 200, 0]);
      expect(ids(looks.flat())).to.deep.equal(numbered(6, 1005));
    });

    it("takes the address from its connection, and says that it needs one of the two", async () => {
      const connection = { $auth: { url: postgres.url } };
      expect((await (await open({ url: undefined, connection })).call("deploy")).failed).to.equal(null);
      const without = await open({ url: undefined });
      expect((await without.call("deploy")).failed).to.match(/give a Database, or a Connection/);
    });

    it("begins with the newest rows that it is told to, with exact and plain values", async () => {
      await database.query(
        `ALTER TABLE "Shop".orders ADD big bigint, ADD price numeric, ADD day date, ADD plain timestamp,
           ADD tags text[], ADD data jsonb, ADD bytes bytea;
         INSERT INTO "Shop".orders VALUES
           (1, '2024-05-01 10:00:00.123455+02', 'Ada', 1, 1, '2024-05-01', '2024-05-01 10:00', '{}', '{}', ''),
           (2, '2024-05-01 10:00:00.123456+02', 'Ärger', 9007199254740993, 12.30, '2024-05-01', '2024-05-01 10:00', '{a,b}', '[1]', '\\xff00')`,
      );
      const source = await open({ backfill: 1, summary: "{{name}} of {{day}}" });
      const { emits } = await source.call("deploy");
      expect(emits.map(one => one.event)).to.deep.equal([
        {
          ...{ id: 2, at: "2024-05-01T08:00:00.123456Z", name: "Ärger", big: "9007199254740993" },
          ...{ price: "12.30", day: "2024-05-01", plain: "2024-05-01T10:00:00", tags: ["a", "b"], data: [1] },
          bytes: "/wA=",
        },
      ]);
      expect(emits[0]?.metadata).to.include({
        id: "2024-05-01 08:00:00.123456+00:2",
        summary: "Ärger of 2024-05-01",
        ts: Date.UTC(2024, 4, 1, 8, 0, 0, 123),
      });
    });

    it("emits a row that is changed again, and rows that differ by a microsecond or by nothing but the key", async () => {
      await insert(1, 2);
      const source = await deployed();
      await database.query(`UPDATE "Shop".orders SET at = now() + interval '1 microsecond', name = 'y' WHERE id = 1;
        INSERT INTO "Shop".orders VALUES (7, '2030-01-01 00:00:00.000002Z'), (6, '2030-01-01 00:00:00.000001Z'), (5, '2030-01-01 00:00:00.000001Z')`);
      expect(ids(await source.events())).to.deep.equal([1, 5, 6, 7]);
      // A clock was wrong: what is written with the right time is not missed.
      await insert(8, 8);
      expect(ids(await source.events())).to.deep.equal([8]);
      expect(await source.events()).to.deep.equal([]);
    });

    it("finds rows that are committed late, within the overlap", async () => {
      await insert(1, 1);
      const source = await deployed();
      const slow = await postgres.connect();
      await slow.query("BEGIN");
      await insert(2, 2, slow);
      await insert(3, 3);
      expect(ids(await source.events())).to.deep.equal([3]);
      await slow.query("COMMIT");
      expect(ids(await source.events())).to.deep.equal([2]);
      expect(await source.events()).to.deep.equal([]);
    });

    it("remembers no more than its db holds, however many rows lie within the overlap", async () => {
      await database.query(`INSERT INTO "Shop".orders (at) SELECT now() FROM generate_series(1, 5000)`);
      const source = await deployed({ most: 5000 });
      expect(await source.events()).to.deep.equal([]);
      await database.query(`INSERT INTO "Shop".orders (at) SELECT now() FROM generate_series(1, 4500)`);
      expect(ids(await source.events())).to.deep.equal(numbered(5001, 9500));
      expect(await source.events()).to.deep.equal([]);
      expect(JSON.stringify(source.db()).length).to.be.below(60 * 1024);
    });

    it("goes on where it failed: what was emitted is not emitted again, and nothing is left out", async () => {
      const source = await deployed();
      await insert(1, 9);
      await database.query(`UPDATE "Shop".orders SET name = repeat('x', 600000) WHERE id = 5`);
      const { emits, failed } = await source.run();
      expect(ids(emits.map(one => one.event))).to.deep.equal([1, 2, 3, 4]);
      expect(failed).to.match(/^row .*:5 can't be an event, perhaps with fewer columns: /);
      source.configure({ url: postgres.url, table: TABLE, order: "at", columns: ["id", "at"] });
      expect(ids(await source.events())).to.deep.equal([5, 6, 7, 8, 9]);
      expect(await source.events()).to.deep.equal([]);
    });

    it("takes a number as order with several keys, a text without overlap, and a query", async () => {
      await insert(1, 2);
      const counted = await deployed({ order: "id", keys: ["name", "at"] });
      const texts = await deployed({ order: "name", overlap: 0 });
      const query = "SELECT id, at FROM \"Shop\".orders WHERE name <> 'hidden' -- all but\n;";
      const asked = await deployed({ table: "", query });
      await database.query(
        `INSERT INTO "Shop".orders VALUES (3, now(), 'y'), (4, now(), 'hidden'), (5, NULL, 'z')`,
      );
      expect(ids(await counted.events())).to.deep.equal([3, 4]);
      expect(ids(await texts.events())).to.deep.equal([3, 5]);
      expect(await asked.events()).to.deep.equal([
        (
          await database.query(
            `SELECT 3 AS id, to_json(at AT TIME ZONE 'UTC')#>>'{}' || 'Z' AS at FROM "Shop".orders WHERE id = 3`,
          )
        ).rows[0],
      ]);
    });

    it("begins another list at its end, but goes on with another password or another limit", async () => {
      await insert(1, 3);
      const source = await deployed();
      const given = { table: TABLE, order: "at" };
      await database.query("ALTER USER shop PASSWORD 'new'");
      try {
        await insert(4, 4);
        source.configure({ ...given, url: postgres.url.replace("p%25s", "new"), most: 10 });
        expect(ids(await source.events())).to.deep.equal([4]);
        source.configure({ ...given, url: postgres.url.replace("p%25s", "new"), order: "id" });
        expect(await source.events()).to.deep.equal([]);
      } finally {
        await database.query("ALTER USER shop PASSWORD 'p%s'");
      }
    });

    it("tells who deploys it what is wrong, without the password, and changes nothing", async () => {
      await insert(1, 1);
      const failed = async (given: object) => (await (await open(given)).call("deploy")).failed;
      expect(await failed({ table: "Shop.nothing" })).to.match(/relation "Shop.nothing" does not exist/);
      expect(await failed({ order: "when" })).to.match(/column source.when does not exist/);
      expect(await failed({ order: "name" })).to.match(
        /name is neither a time nor a number: Overlap must be 0/,
      );
      expect(await failed({ query: "SELECT 1" })).to.match(/give a table or a query, one of them/);
      expect(await failed({ table: "", query: 'DELETE FROM "Shop".orders RETURNING *' })).to.match(
        /syntax error/,
      );
      expect(
        await failed({
          table: "",
          query: "SELECT id, now() AS at FROM setval('\"Shop\".orders_id_seq', 9) AS id",
        }),
      ).to.match(/read-only transaction/);
      expect(await failed({ url: postgres.url.replace("p%25s", "wr0ng") }))
        .to.match(/password authentication failed/)
        .and.not.include("wr0ng");
      expect(await failed({ url: "mysql://shop:wr0ng@127.0.0.1/" }))
        .to.match(/not of the form postgres:/)
        .and.not.include("wr0ng");
      expect(await failed({ url: "postgres://shop:wr0ng@127.0.0.1:1/" })).to.match(/ECONNREFUSED/);
    });

    it("offers the tables that there are, and the columns of a table or a query", async () => {
      await database.query(`CREATE VIEW "Shop".newest AS SELECT id AS number FROM "Shop".orders`);
      const source = await open();
      expect(await source.choices("table")).to.deep.equal(["Shop.newest", TABLE]);
      for (const prop of ["order", "keys", "columns"])
        expect(await source.choices(prop)).to.deep.equal(["id", "at", "name"]);
      const asked = await open({ table: "", query: 'SELECT number AS n FROM "Shop".newest;' });
      expect(await asked.choices("order")).to.deep.equal(["n"]);
    });

    it("verifies the certificate where TLS is asked for", async () => {
      const url = `${postgres.url}?sslmode=require`;
      expect((await (await open({ url })).call("deploy")).failed).to.match(
        /self.signed certificate|certificate/i,
      );
      await deployed({ url, ca: TEST_TLS.cert });
      await deployed({ ca: TEST_TLS.cert });
      await deployed({ url: `${postgres.url}?sslmode=no-verify` });
    });
  });

  describe("action", () => {
    beforeEach(async () => {
      await database.query(
        `CREATE TABLE "Shop".stock (id text PRIMARY KEY, "left" int CHECK ("left" >= 0), data jsonb, tags text[], at timestamptz)`,
      );
    });
    const run = (given: object, event: unknown = {}) =>
      runAction(sandboxes, "headwater-postgres-write", { url: postgres.url, ...given }, event);
    const rows = async () => (await database.query(`SELECT * FROM "Shop".stock ORDER BY id`)).rows;
    const table = "Shop.stock";

    it("inserts values of the event as what their columns are, and nothing of them becomes SQL", async () => {
      const event = { id: `'); DROP TABLE "Shop".stock; --`, list: [1, { a: "b" }], tags: ["x", "y"] };
      const values = {
        ...{ id: "{{event.id}}", left: 3, data: "{{event.list}}", tags: "{{event.tags}}" },
        at: "2024-05-01T08:00:00Z",
      };
      const { emits, failed } = await run({ table, values }, event);
      expect(failed).to.equal(null);
      expect(await rows()).to.deep.equal([
        { id: event.id, left: 3, data: event.list, tags: event.tags, at: new Date(Date.UTC(2024, 4, 1, 8)) },
      ]);
      expect(emits.map(one => one.event)).to.deep.equal([
        { name: "$summary", value: "1 row" },
        { value: { count: 1, rows: [] } },
      ]);
      expect((await run({ table, values: { 'id") SELECT 1; --': "x" } })).failed).to.match(/does not exist/);
      expect((await run({ table: 'Shop.stock" DEFAULT VALUES; --', values: { id: 1 } })).failed).to.match(
        /does not exist/,
      );
    });

    it("knows a row that is there: it fails, leaves it, or updates what it was given", async () => {
      const values = { id: "a", left: 1 };
      await run({ table, values: { ...values, tags: ["kept"] } });
      expect((await run({ table, values })).failed).to.match(
        /duplicate key value violates unique constraint/,
      );
      const changed = { id: "a", left: 2 };
      expect((await run({ table, values: changed, conflict: "ignore" })).emits[0]?.event).to.deep.equal({
        name: "$summary",
        value: "0 rows",
      });
      expect((await rows())[0]).to.include({ left: 1 });
      expect((await run({ table, values: changed, conflict: "update" })).failed).to.match(/are needed/);
      expect((await run({ table, values: changed, conflict: "update", unique: ["id"] })).failed).to.equal(
        null,
      );
      expect((await rows())[0]).to.deep.include({ left: 2, tags: ["kept"] });
      expect((await run({ table, values: { id: "a" }, conflict: "update", unique: ["id"] })).failed).to.equal(
        null,
      );
    });

    it("runs a query whose values come as parameters only", async () => {
      await run({ table, values: { id: "a", left: 5 } });
      const query = 'UPDATE "Shop".stock SET "left" = "left" - $1, data = $3 WHERE id = $2 RETURNING "left"';
      const parameters = ["{{event.count}}", "{{event.item}}", "{{event}}"];
      const { emits } = await run({ query, parameters }, { count: 2, item: "a" });
      expect(emits.at(-1)?.event).to.deep.equal({ value: { count: 1, rows: [{ left: 3 }] } });
      expect((await rows())[0]).to.deep.include({ left: 3, data: { count: 2, item: "a" } });
      expect((await run({ query, parameters }, { count: 9, item: "a" })).failed).to.match(
        /violates check constraint/,
      );
      const templated = `UPDATE "Shop".stock SET id = '{{event.item}}'`;
      expect((await run({ query: templated }, { item: "b" })).failed).to.match(/values come by Parameters/);
      expect((await run({ query: "SELECT 1; SELECT 2" })).failed).to.match(/multiple commands/);
      expect((await run({ query, table, values: { id: "b" } })).failed).to.match(/one of them/);
    });
  });
});

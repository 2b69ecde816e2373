import { expect } from "chai";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { blocksOf } from "./page-code.ts";
import { bodies, type Kitchen, startKitchen } from "./recipes.ts";

describe("the cookbook's rows of PostgreSQL", () => {
  let kitchen: Kitchen;
  let postgres: Postgres;
  before(async function () {
    postgres = await startPostgres(this);
    kitchen = await startKitchen();
  });
  after(() => Promise.all([kitchen?.stop(), postgres?.close()]));

  it("become events for a user who may do nothing but read them", async () => {
    const client = await postgres.connect();
    await client.query(
      "CREATE TABLE orders (id serial PRIMARY KEY, customer text, state text, secret text, updated_at timestamptz)",
    );
    const [setup = ""] = blocksOf("docs/cookbook/rows-of-postgresql.md", "sql");
    await client.query(setup);
    await client.query("INSERT INTO orders VALUES (1, 'Ada', 'open', 'x', now() - interval '1 hour')");
    const warehouse = await kitchen.receiver();
    const recipe = await kitchen.open("cookbook/rows-of-postgresql");
    const url = Object.assign(new URL(postgres.url), { username: "headwater", password: "choose-another" });
    await recipe.shell({ DATABASE_URL: url.href, WAREHOUSE_URL: warehouse.url });
    await client.query("UPDATE orders SET state = 'paid', updated_at = now()");
    await client.query("INSERT INTO orders VALUES (2, 'Bob', 'open', 'x', now())");
    const { data } = await kitchen.client.sources.list({ q: "rows" });
    await kitchen.client.sources.run(data[0]?.id ?? "");
    const [row, ...others] = (await bodies(warehouse)) as Record<string, unknown>[];
    expect(row).to.include({ id: 1, customer: "Ada", state: "paid" }).and.not.to.have.property("secret");
    expect(others).to.deep.equal([]);
  });
});

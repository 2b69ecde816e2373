import { emitInOrder } from "../../lib/emit-in-order.mjs";
import { shortHash } from "../../lib/identity.mjs";
import { filled } from "../../lib/paths.mjs";
import { backfill, timer } from "../../lib/poll-props.mjs";
import { databaseProps, inTransaction, quoted, quotedTable, tablesOf } from "../database.mjs";
import { isTime, numberOf, openWindow, REMEMBERED } from "../window.mjs";

const PAGE = 200;

export default {
  key: "headwater-postgres-rows",
  name: "New or changed rows of PostgreSQL",
  version: "1.1.0",
  type: "source",
  description: "Looks into a table again and again, and emits the rows that are new or changed.",
  dedupe: "unique",
  props: {
    db: "$.service.db",
    ...databaseProps,
    timer: timer("Look every", 60),
    table: {
      type: "string",
      label: "Table or view",
      description: "With its schema if that is not public, such as shop.orders. Empty: a query is needed.",
      optional: true,
      options() {
        return tablesOf(this);
      },
    },
    query: {
      type: "string",
      label: "Query",
      description: "A SELECT in place of a table. It can only read.",
      optional: true,
    },
    order: {
      type: "string",
      label: "Order",
      description:
        "The column whose value grows: created_at or a serial id for new rows, updated_at for changed ones as well. It should have an index. Rows without a value are left out.",
      options() {
        return this.columnNames();
      },
    },
    keys: {
      type: "string[]",
      label: "Key",
      description: "The columns that tell rows of the same order apart: the primary key.",
      options() {
        return this.columnNames();
      },
      default: ["id"],
    },
    columns: {
      type: "string[]",
      label: "Columns",
      description: "Those that an event has. Empty: all.",
      options() {
        return this.columnNames();
      },
      optional: true,
    },
    summary: {
      type: "string",
      label: "Summary",
      description: "A line for people, with values of the row, such as {{customer}} ordered {{item}}.",
      optional: true,
    },
    overlap: {
      type: "integer",
      label: "Overlap",
      description:
        "How late a row may appear: seconds before the newest row's time, or how much less than its number, because its transaction was committed later. 0 for an order that is neither time nor number.",
      default: 60,
      min: 0,
      max: 86_400,
    },
    most: { type: "integer", label: "Most rows of one look", default: 1000, min: 1, max: 5000 },
    backfill: backfill("rows"),
  },
  hooks: {
    // What is wrong with the address or the names is told to who enters them.
    async deploy() {
      await this.look();
    },
  },
  methods: {
    async look() {
      const { table, query, order, keys } = this;
      if (Boolean(table) === Boolean(query)) throw new Error("give a table or a query, one of them");
      if (keys.length === 0) throw new Error("Key: a column is needed");
      // Another list begins from its end. A password may change.
      const list = shortHash(JSON.stringify([table, query, order, keys]));
      const stored = this.db.get("rows");
      await inTransaction(this, { isReading: true }, async client => {
        if (stored?.list === list) await this.emitNew(client, stored);
        else await this.begin(client, list);
      });
    },
    async begin(client, list) {
      const { rows, oid } = await this.read(client, {
        isNewestFirst: true,
        most: REMEMBERED + 1,
        hasColumns: false,
      });
      const window = openWindow(undefined, this.windowOf(oid, rows));
      window.add(rows.reverse());
      const newest = await this.read(client, { isNewestFirst: true, most: this.backfill });
      emitInOrder(newest.rows.reverse(), {
        emit: row => this.emitRow(row),
        remember: (_, isAll) => isAll && this.db.set("rows", { list, ...window.state(true) }),
      });
    },
    async emitNew(client, { list, ...known }) {
      let window;
      let after = known.low;
      let emitted = 0;
      let isWhole = false;
      while (!isWhole && emitted < this.most) {
        const { rows, oid } = await this.read(client, { after, most: PAGE });
        window ??= openWindow(known, this.windowOf(oid, rows));
        const last = rows.filter(row => !window.has(row))[this.most - emitted - 1];
        const page = last ? rows.slice(0, rows.indexOf(last) + 1) : rows;
        isWhole = page.length < PAGE && page.length === rows.length;
        after = page.at(-1)?.position;
        emitInOrder(page, {
          emit: row => {
            if (window.has(row)) return;
            this.emitRow(row);
            emitted += 1;
          },
          remember: (looked, isAll) => {
            window.add(looked);
            this.db.set("rows", { list, ...window.state(isWhole && isAll) });
          },
        });
      }
    },
    windowOf(oid, rows) {
      const hasNoDistance = rows.some(({ value }) => Number.isNaN(value));
      if (hasNoDistance && this.overlap > 0)
        throw new Error(`${this.order} is neither a time nor a number: Overlap must be 0`);
      return { overlap: this.overlap, isTime: isTime(oid) };
    },
    /** What rows are selected from, in SQL. */
    list() {
      return this.query ? `(${this.query.replace(/[;\s]+$/, "")}\n)` : quotedTable(this.table);
    },
    async columnNames() {
      if (!this.table && !this.query) return [];
      const { fields } = await inTransaction(this, { isReading: true }, client =>
        client.query(`SELECT * FROM ${this.list()} AS source LIMIT 0`),
      );
      return fields.map(({ name }) => name);
    },
    /** Returns the type of the order, and rows `{event, position, id, name, value, ts}`: those behind a position, or the newest. */
    async read(client, { after = null, isNewestFirst = false, most, hasColumns = true }) {
      const position = [this.order, ...this.keys].map(name => `source.${quoted(name)}`);
      const columns = this.columns?.length
        ? this.columns.map(name => `source.${quoted(name)}`)
        : ["source.*"];
      const direction = isNewestFirst ? "DESC" : "ASC";
      const { rows, fields } = await client.query(
        `SELECT ${[...(hasColumns ? columns : []), `${position[0]} AS headwater_order`].join(", ")},
           json_build_array(${position.map(one => `${one}::text`).join(", ")}) AS headwater_position
         FROM ${this.list()} AS source
         WHERE ${position.map(one => `${one} IS NOT NULL`).join(" AND ")}
           ${after ? `AND (${position.join(", ")}) > (${position.map((_, at) => `$${at + 1}`).join(", ")})` : ""}
         ORDER BY ${position.map(one => `${one} ${direction}`).join(", ")} LIMIT ${most}`,
        after ?? [],
      );
      const oid = fields.find(({ name }) => name === "headwater_order").dataTypeID;
      return { rows: rows.map(row => this.rowOf(row, oid)), oid };
    },
    rowOf({ headwater_order: _, headwater_position: position, ...event }, oid) {
      const [order, ...keys] = position;
      const id = `${order}:${keys.length === 1 ? keys[0] : JSON.stringify(keys)}`;
      const value = numberOf(order, oid);
      const ts = isTime(oid) && Number.isFinite(value) ? 1000 * value : undefined;
      return { event, position, id, name: shortHash(id), value, ts };
    },
    emitRow({ event, id, position, ts }) {
      const summary = this.summary
        ? filled(this.summary, event)
        : `${this.table || "row"} ${position.slice(1).join(" ")}`;
      try {
        this.$emit(event, { id, summary, ...(ts !== undefined && { ts }) });
      } catch (error) {
        throw new Error(`row ${id} can't be an event, perhaps with fewer columns: ${error.message}`);
      }
    },
  },
  async run() {
    await this.look();
  },
  sampleEmit: {
    id: 17,
    customer: "Ada",
    item: "Analytical engine",
    created_at: "2026-11-29T08:00:00.123456Z",
  },
};

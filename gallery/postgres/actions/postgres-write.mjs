import { databaseProps, inTransaction, quoted, quotedTable, tablesOf } from "../database.mjs";

export default {
  key: "headwater-postgres-write",
  name: "Write to PostgreSQL",
  version: "1.1.0",
  type: "action",
  description: "Inserts or updates a row, or runs a query with parameters, for each event.",
  props: {
    ...databaseProps,
    table: {
      type: "string",
      label: "Table",
      description: "With its schema if that is not public, such as shop.orders. Empty: a query is needed.",
      optional: true,
      options() {
        return tablesOf(this);
      },
    },
    values: {
      type: "object",
      label: "Row",
      description: 'Values by column, such as {"id": "{{event.id}}", "customer": "{{event.customer.name}}"}.',
      optional: true,
    },
    conflict: {
      type: "string",
      label: "If the row is there",
      description: "An attempt is repeated if its end was not seen, so a row may be there already.",
      options: [
        { label: "Fail", value: "fail" },
        { label: "Leave it as it is", value: "ignore" },
        { label: "Update it", value: "update" },
      ],
      default: "fail",
    },
    unique: {
      type: "string[]",
      label: "Columns by which it is known",
      description:
        "The primary key or those of a unique index; to update, they are needed. A column that has {{context.id}} knows a repeated attempt.",
      optional: true,
    },
    query: {
      type: "string",
      label: "Query",
      description:
        "In place of a row, such as UPDATE stock SET left = left - $1 WHERE item = $2. It is a secret, so that nothing of an event becomes part of it: values come by Parameters.",
      secret: true,
      optional: true,
    },
    parameters: {
      type: "any",
      label: "Parameters",
      description: 'A list of the values of $1, $2 and so on, such as ["{{event.count}}", "{{event.item}}"].',
      optional: true,
    },
  },
  methods: {
    statement() {
      const hasRow = Boolean(this.table && this.values);
      if (hasRow === Boolean(this.query)) throw new Error("give a table and a row, or a query, one of them");
      if (!hasRow) return { text: this.query, values: this.parametersOf() };
      const columns = Object.keys(this.values);
      if (columns.length === 0) throw new Error("Row: a value is needed");
      const names = columns.map(quoted).join(", ");
      const table = quotedTable(this.table);
      // The database makes each value what its column is, also a list of JSON and one of texts.
      return {
        text: `INSERT INTO ${table} (${names})
          SELECT ${names} FROM jsonb_populate_record(NULL::${table}, $1::jsonb) ${this.onConflict(columns)}`,
        values: [JSON.stringify(this.values)],
      };
    },
    onConflict(columns) {
      if (this.conflict === "fail") return "";
      const unique = this.unique ?? [];
      const target = unique.length > 0 ? `(${unique.map(quoted).join(", ")})` : "";
      if (this.conflict === "ignore") return `ON CONFLICT ${target} DO NOTHING`;
      if (!target) throw new Error("Columns by which it is known: to update a row, they are needed");
      const others = columns.filter(name => !unique.includes(name));
      // With nothing to update, DO UPDATE still says that the row is there.
      const set = (others.length > 0 ? others : unique).map(
        name => `${quoted(name)} = EXCLUDED.${quoted(name)}`,
      );
      return `ON CONFLICT ${target} DO UPDATE SET ${set.join(", ")}`;
    },
    parametersOf() {
      if (this.query.includes("{{")) throw new Error("Query: values come by Parameters, and not by {{…}}");
      const given = this.parameters ?? [];
      if (!Array.isArray(given)) throw new Error("Parameters: a list is needed");
      return given.map(value =>
        typeof value === "object" && value !== null ? JSON.stringify(value) : value,
      );
    },
  },
  async run({ $ }) {
    // One statement, also where it has no parameters.
    const statement = { ...this.statement(), queryMode: "extended" };
    const { rowCount, rows } = await inTransaction(this, {}, client => client.query(statement));
    $.export("$summary", rowCount === 1 ? "1 row" : `${rowCount ?? 0} rows`);
    return { count: rowCount ?? 0, rows };
  },
};

import { emitInOrder, newestOf } from "../../lib/emit-in-order.mjs";
import { heedingWaits, jsonOf, send } from "../../lib/http.mjs";
import { shortHash } from "../../lib/identity.mjs";
import { asText, filled } from "../../lib/paths.mjs";
import { backfill, timer } from "../../lib/poll-props.mjs";
import { accessTokenOf } from "../access-token.mjs";

/** Names of rows, of which a db of 60 KB holds as many: of a longer sheet, the last rows are looked at. */
const MAX_ROWS = 3000;

export default {
  key: "headwater-google-sheets-rows",
  name: "New rows of Google Sheets",
  version: "1.0.0",
  type: "source",
  description: "Looks into a sheet again and again, and emits the rows that are new or changed.",
  props: {
    db: "$.service.db",
    account: {
      type: "string",
      label: "Service account key",
      description:
        "The JSON file of a Google Cloud service account. Share the spreadsheet with its e-mail address, to view it.",
      secret: true,
    },
    spreadsheet: { type: "string", label: "Spreadsheet", description: "Its address, or its id." },
    sheet: {
      type: "string",
      label: "Sheet",
      description: "Empty: the first one.",
      async options() {
        const { sheets } = await this.ask("?fields=sheets.properties.title");
        return sheets.map(({ properties }) => properties.title);
      },
      optional: true,
    },
    timer: timer("Look every", 300),
    header: {
      type: "integer",
      label: "Row of names",
      description:
        "Its cells are the names of columns, and rows above it are left out. 0: columns are called A, B and so on.",
      default: 1,
      min: 0,
      max: 100,
    },
    id: {
      type: "string",
      label: "Key",
      description:
        "The column by which a row is known, such as an order's number. A row waits until it is filled in. Empty: a row is known by its content.",
      optional: true,
    },
    emits: {
      type: "string",
      label: "What is an event",
      description: "Without a key, a changed row is a new one.",
      options: [
        { label: "A new row", value: "new" },
        { label: "A new or changed row", value: "changed" },
      ],
      default: "new",
    },
    summary: {
      type: "string",
      label: "Summary",
      description: "A line for people, with values of the row, such as {{Customer}} ordered {{Item}}.",
      optional: true,
    },
    backfill: backfill("rows"),
    api: {
      type: "string",
      label: "Address of Google's API",
      hidden: true,
      default: "https://sheets.googleapis.com",
    },
  },
  hooks: {
    // A spreadsheet that is not shared is told to who enters it.
    async deploy() {
      await this.look();
    },
  },
  methods: {
    async look() {
      const { spreadsheet, sheet, header, id, emits } = this;
      // Another list begins from its end. The account may change.
      const list = shortHash(JSON.stringify([spreadsheet, sheet, header, id, emits]));
      const stored = this.db.get("rows");
      const before = stored?.list === list ? stored.seen : undefined;
      const all = this.rowsOf(await this.read());
      const rows = all.slice(-MAX_ROWS);
      const known = new Set(before);
      const first = rows.findIndex(({ name }) => known.has(name));
      // Where a row was deleted, one that was left out before comes into view at the top.
      const from = before && all.length > MAX_ROWS ? Math.max(0, first) : 0;
      const fresh = rows.slice(from).filter(({ name }) => !known.has(name));
      emitInOrder(before ? fresh : newestOf(fresh, this.backfill), {
        emit: row => this.emitRow(row),
        remember: (emitted, isAll) => {
          // What is not there any more is forgotten, so that it is new where it comes back.
          const seen = isAll ? rows : [...known, ...emitted];
          if (isAll || before) this.db.set("rows", { list, seen: seen.map(one => one.name ?? one) });
        },
      });
      if (before?.length > 0 && first === -1 && all.length > MAX_ROWS)
        throw new Error(`more than ${MAX_ROWS} rows are new, and others were left out: look more often`);
    },
    async read() {
      const tab = this.sheet ? `'${this.sheet.replaceAll("'", "''")}'!` : "";
      const range = encodeURIComponent(`${tab}A:ZZ`);
      const { values = [] } = await this.ask(
        `/values/${range}?valueRenderOption=UNFORMATTED_VALUE&dateTimeRenderOption=FORMATTED_STRING`,
      );
      return values;
    },
    /** Returns rows `{name, row, values}` with something in them, in the order of the sheet. */
    rowsOf(cells) {
      const columns = namesOf(this.header > 0 ? (cells[this.header - 1] ?? []) : [], cells);
      if (this.id && cells.length > 0 && !columns.includes(this.id))
        throw new Error(`Key: there is no column ${this.id}, only ${columns.slice(0, 20).join(", ")}`);
      const count = new Map();
      const rows = new Map();
      for (const [at, row] of cells.entries()) {
        if (at < this.header) continue;
        const values = Object.fromEntries(
          columns.map((name, n) => [name, row[n] === "" ? null : (row[n] ?? null)]),
        );
        const isEmpty = Object.values(values).every(value => value === null);
        if (isEmpty || (this.id && values[this.id] === null)) continue;
        const identity = this.identityOf(values, row);
        const before = count.get(identity) ?? 0;
        count.set(identity, before + 1);
        // A key stands for one row, but rows of the same content are several.
        const name = shortHash(this.id ? identity : `${identity}\n${before}`);
        if (!rows.has(name)) rows.set(name, { name, row: at + 1, values });
      }
      return [...rows.values()];
    },
    /** The content ends with the last cell that is filled in: a column that is added changes no row. */
    identityOf(values, row) {
      const end = row.findLastIndex(cell => cell !== "") + 1;
      const content = this.id && this.emits === "new" ? "" : JSON.stringify(row.slice(0, end));
      return this.id ? `${asText(values[this.id])}\n${content}` : content;
    },
    emitRow({ name, row, values }) {
      const summary = this.summary ? filled(this.summary, values) : `row ${row}`;
      this.$emit({ sheet: this.sheet || null, row, values }, { id: name, summary });
    },
    async ask(path) {
      const token = await accessTokenOf(this.account);
      const url = `${this.api}/v4/spreadsheets/${idOf(this.spreadsheet)}${path}`;
      return jsonOf(await send(url, { headers: { authorization: `Bearer ${token}` } }));
    },
  },
  async run() {
    await heedingWaits(this.db, () => this.look());
  },
  sampleEmit: {
    sheet: "Orders",
    row: 17,
    values: { Number: 1017, Customer: "Ada", Item: "Analytical engine", Paid: true, Note: null },
  },
};

function idOf(text) {
  const [, ofAddress] = /\/spreadsheets\/d\/([\w-]+)/.exec(text) ?? [];
  const id = ofAddress ?? text.trim();
  if (!/^[\w-]{10,}$/.test(id)) throw new Error("Spreadsheet: must be the address or the id of one");
  return id;
}

/** Returns a name for each column that a row has: its letters where it has none, or that of another one. */
function namesOf(header, cells) {
  const width = Math.max(0, ...cells.map(row => row.length));
  const names = [];
  for (let at = 0; at < width; at += 1) {
    const given = asText(header[at]).trim();
    names.push(given === "" || names.includes(given) ? lettersOf(at) : given);
  }
  return names;
}

function lettersOf(at) {
  const letter = String.fromCharCode(65 + (at % 26));
  return at < 26 ? letter : lettersOf(Math.floor(at / 26) - 1) + letter;
}

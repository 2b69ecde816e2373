import pg from "pg";

const CONNECT_MS = 15_000;
const STATEMENT_MS = 60_000;

/** Types whose JavaScript values would not be exact, or not be JSON: oids of pg_type. */
const PARSERS = {
  17: text => Buffer.from(text.slice(2), "hex").toString("base64"), // bytea
  20: text => (Number.isSafeInteger(Number(text)) ? Number(text) : text), // bigint
  1082: text => text, // date
  1114: text => text.replace(" ", "T"), // timestamp
  1184: text => text.replace(" ", "T").replace(/\+00$/, "Z"), // timestamptz
  1186: text => text, // interval
};

/**
 * Does `work` in one transaction of a database, and returns what that returns. Times are read and shown in UTC. With `isReading`, it
 * sees the database as it is at one moment, and can't change it.
 */
export async function inTransaction({ url, connection, ca }, { isReading = false }, work) {
  const client = new pg.Client({
    ...addressOf(url ?? connection?.$auth?.url, ca),
    types: { getTypeParser: (oid, format) => PARSERS[oid] ?? pg.types.getTypeParser(oid, format) },
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS,
    application_name: "Headwater",
  });
  // A query under way is rejected with the same.
  client.on("error", () => undefined);
  await client.connect();
  try {
    await client.query(`BEGIN${isReading ? " ISOLATION LEVEL REPEATABLE READ READ ONLY" : ""};
      SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL statement_timeout = ${STATEMENT_MS}`);
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  } finally {
    // What was not committed goes with the connection.
    await client.end().catch(() => undefined);
  }
}

/** Certificates are verified wherever the address asks for TLS, unless it says no-verify. */
function addressOf(url, ca) {
  if (!url) throw new Error("give a Database, or a Connection that has its address in the field url");
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (!/^postgres(ql)?:$/.test(address?.protocol ?? ""))
    throw new Error("the address is not of the form postgres://user:password@host:5432/database");
  const mode = address.searchParams.get("sslmode") ?? (ca ? "verify-full" : "disable");
  address.searchParams.delete("sslmode");
  const ssl = mode !== "disable" && { rejectUnauthorized: mode !== "no-verify", ...(ca && { ca }) };
  return { connectionString: address.href, ssl };
}

/** Props that say which database. */
export const databaseProps = {
  url: {
    type: "string",
    label: "Database",
    description:
      "postgres://user:password@host:5432/database; add ?sslmode=require to speak by TLS only. Empty: that of the connection.",
    secret: true,
    optional: true,
  },
  connection: {
    type: "app",
    app: "postgres",
    label: "Connection",
    description:
      "Has the address of the database in its field url. Needed for one in a private network, whose address an operator opens to the connection.",
    optional: true,
  },
  ca: {
    type: "string",
    label: "Certificate authority",
    description: "Its certificate as PEM, if the database's own is not signed by a public one.",
    optional: true,
  },
};

/** Returns a name as SQL has it. */
export const quoted = name => pg.escapeIdentifier(name);

/** Returns the name of a table, with or without its schema, as SQL has it. */
export const quotedTable = name => name.split(".").map(quoted).join(".");

/** Returns the names of the tables and views that the user of a database may see, as `quotedTable` takes them. */
export const tablesOf = settings =>
  inTransaction(settings, { isReading: true }, async client => {
    const { rows } = await client.query(
      `SELECT CASE table_schema WHEN 'public' THEN '' ELSE table_schema || '.' END || table_name AS name
       FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`,
    );
    return rows.map(({ name }) => name);
  });

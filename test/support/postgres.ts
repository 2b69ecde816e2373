import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { findProgram } from "../../script/lib/commands.mjs";
import { choosePort } from "../../script/lib/ports.mjs";
import { TEST_TLS } from "../egress/test-tls.ts";
import { programOrSkip } from "./skip.ts";
import { until } from "./until.ts";

/** A PostgreSQL of one test file. */
export interface Postgres {
  /** With the password of its only user. It speaks TLS too, with the certificate of TEST_TLS. */
  url: string;
  /** Opens a connection, which `close` ends. */
  connect(): Promise<Client>;
  close(): Promise<void>;
}

/** PostgreSQL does not run as root. */
const NOBODY = 65_534;
const DEBIAN = "/usr/lib/postgresql";

/** Debian has its programs in a folder of each version, and not on the PATH. */
function findPostgres(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = versions.map(version => join(DEBIAN, version, "bin"));
  return findProgram("postgres", [...folders, process.env.PATH].join(":"));
}

/** Starts a PostgreSQL with its data in a temporary folder; skips the tests, and says why, if the machine has none. */
export async function startPostgres(context: Mocha.Context): Promise<Postgres> {
  const program = await programOrSkip(context, "postgresql", { find: findPostgres });
  const folder = mkdtempSync(join(tmpdir(), `headwater-postgres-${process.pid}-`));
  const isRoot = process.getuid?.() === 0;
  const as = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const put = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    if (isRoot) chownSync(path, NOBODY, NOBODY);
    return path;
  };
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  chmodSync(folder, 0o700);
  const data = join(folder, "data");
  const password = put("password", "p%s");
  execFileSync(
    program.replace(/postgres$/, "initdb"),
    ["-D", data, "-U", "shop", "-A", "scram-sha-256", `--pwfile=${password}`, "--no-sync", "-E", "UTF8"],
    { ...as, stdio: "ignore", env: { LC_ALL: "C", PATH: process.env.PATH } },
  );
  const port = await choosePort(0);
  const settings = {
    ...{ port, listen_addresses: "127.0.0.1", unix_socket_directories: "", fsync: "off" },
    // Who forgets to ask for UTC is found out.
    timezone: "Asia/Kolkata",
    ...{
      ssl: "on",
      ssl_cert_file: put("cert.pem", TEST_TLS.cert),
      ssl_key_file: put("key.pem", TEST_TLS.key),
    },
  };
  const given = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server: ChildProcess = spawn(program, ["-D", data, ...given], { ...as, stdio: "ignore", env: {} });
  const atExit = () => {
    server.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", atExit);
  const url = `postgres://shop:p%25s@127.0.0.1:${port}/postgres`;
  const clients: Client[] = [];
  const connect = async () => {
    const client = new Client({ connectionString: url });
    client.on("error", () => undefined);
    await client.connect();
    clients.push(client);
    return client;
  };
  await until(connect, { what: "PostgreSQL to accept connections" });
  return {
    url,
    connect,
    async close() {
      await Promise.all(clients.map(client => client.end()));
      const gone = new Promise(resolve => server.once("exit", resolve));
      // Fast shutdown: what is connected is ended.
      server.kill("SIGINT");
      await gone;
      process.off("exit", atExit);
      atExit();
    },
  };
}

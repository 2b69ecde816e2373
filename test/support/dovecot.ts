import { spawn } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { ImapFlow } from "imapflow";
import { choosePort } from "../../script/lib/ports.mjs";
import { TEST_TLS } from "../egress/test-tls.ts";
import { programOrSkip } from "./skip.ts";
import { until } from "./until.ts";

/** A Dovecot of one test file, with the certificate of TEST_TLS. */
export interface Dovecot {
  /** Where it listens: by TLS, and by STARTTLS. */
  port: number;
  plainPort: number;
  /** Opens a connection of a user, which `close` ends. Each name is one, all with the password `p4ss`. */
  connect(user: string): Promise<ImapFlow>;
  close(): Promise<void>;
}

/** Whose mails are, if the tests run as root. */
const NOBODY = 65_534;

/** Starts a Dovecot with its mails in a temporary folder; skips the tests, and says why, if the machine has none. */
export async function startDovecot(context: Mocha.Context): Promise<Dovecot> {
  const program = await programOrSkip(context, "dovecot-imapd", { names: ["dovecot"] });
  const folder = mkdtempSync(join(tmpdir(), `headwater-dovecot-${process.pid}-`));
  // Its processes of other users come through.
  chmodSync(folder, 0o755);
  const [port, plainPort] = [await choosePort(0), await choosePort(0)];
  const isRoot = process.getuid?.() === 0;
  const { username, uid, gid } = userInfo();
  const mail = join(folder, "mail");
  mkdirSync(mail);
  if (isRoot) chownSync(mail, NOBODY, NOBODY);
  const put = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o644 });
    return join(folder, name);
  };
  const owner = isRoot ? `uid=${NOBODY} gid=${NOBODY}` : `uid=${uid} gid=${gid}`;
  const settings = `
base_dir = ${folder}/run
log_path = ${folder}/log
protocols = imap
listen = 127.0.0.1
ssl = required
ssl_cert = <${put("cert.pem", TEST_TLS.cert)}
ssl_key = <${put("key.pem", TEST_TLS.key)}
mail_location = maildir:${mail}/%u
first_valid_uid = 1
auth_failure_delay = 0
passdb {
  driver = static
  args = password=p4ss
}
userdb {
  driver = static
  args = ${owner} home=${mail}/%u
}
service imap-login {
  inet_listener imap {
    port = ${plainPort}
  }
  inet_listener imaps {
    port = ${port}
    ssl = yes
  }
  ${isRoot ? "" : "chroot ="}
}
${isRoot ? "" : `default_login_user = ${username}\ndefault_internal_user = ${username}\nservice anvil {\n  chroot =\n}`}
`;
  const server = spawn(program, ["-F", "-c", put("dovecot.conf", settings)], { stdio: "ignore" });
  const atExit = () => {
    server.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", atExit);
  try {
    await until(() => isListening(port), { what: "Dovecot to listen" });
  } catch (error) {
    throw new Error(`${(error as Error).message}; ${readFileSync(join(folder, "log"), "utf8")}`);
  }
  const clients: ImapFlow[] = [];
  return {
    port,
    plainPort,
    async connect(user) {
      const auth = { user, pass: "p4ss" };
      const tls = { ca: TEST_TLS.cert };
      const client = new ImapFlow({ host: "127.0.0.1", port, secure: true, auth, tls, logger: false });
      client.on("error", () => undefined);
      await client.connect();
      clients.push(client);
      return client;
    },
    async close() {
      for (const client of clients) client.close();
      const gone = new Promise(resolve => server.once("exit", resolve));
      server.kill("SIGTERM");
      await gone;
      process.off("exit", atExit);
      atExit();
    },
  };
}

function isListening(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

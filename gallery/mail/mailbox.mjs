import { ImapFlow } from "imapflow";

const CONNECT_MS = 15_000;
const IDLE_MS = 60_000;

/** Calls `work` with a connection to a mail server, and returns what that returns. Errors have what the server said. */
export async function withServer({ host, port, security, user, password, ca }, work) {
  const client = new ImapFlow({
    ...{ host, port, secure: security === "tls", doSTARTTLS: security === "starttls" },
    ...{ auth: { user, pass: password }, ...(ca && { tls: { ca } }), logger: false },
    ...{ connectionTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS, socketTimeout: IDLE_MS },
  });
  // A command under way is rejected with the same.
  client.on("error", () => undefined);
  try {
    await client.connect();
    return await work(client);
  } catch (error) {
    const said = error.responseText;
    throw said ? new Error(`${host} said: ${said}`) : error;
  } finally {
    // Without a LOGOUT: nothing waits for it.
    client.close();
  }
}

/** Props that say which server and whose mail. */
export const serverProps = {
  host: {
    type: "string",
    label: "IMAP server",
    description: "Such as imap.gmail.com, imap.mail.me.com or imap.fastmail.com.",
  },
  port: { type: "integer", label: "Port", description: "993 for TLS, 143 for STARTTLS.", default: 993 },
  security: {
    type: "string",
    label: "Security",
    options: [
      { label: "TLS", value: "tls" },
      { label: "STARTTLS", value: "starttls" },
    ],
    default: "tls",
  },
  user: { type: "string", label: "User", description: "Mostly the address." },
  password: {
    type: "string",
    label: "Password",
    description: "Where there are app passwords, one of these.",
    secret: true,
  },
  ca: {
    type: "string",
    label: "Certificate authority",
    description: "Its certificate as PEM, if the server's own is not signed by a public one.",
    optional: true,
  },
};

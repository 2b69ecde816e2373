import type { ConnectionOptions } from "node:tls";
import type { SendMailOptions } from "nodemailer";
import type { SmtpServer } from "../../lib/smtp-url.ts";

/** Hands mail over to a server. */
export interface Mailer {
  /** Resolves once the server has accepted the mail for its receiver. Throws if it has not. */
  send(mail: SendMailOptions): Promise<void>;
  close(): void;
}

const CONNECT_MS = 10_000;
/** Without a byte from the server. Milliseconds. */
const SILENT_MS = 30_000;

/**
 * Opens what hands mail over to a server; it connects when there is a mail. `tls` has further authorities, for tests. The
 * library is loaded here: no process without mail needs it.
 */
export async function openMailer(server: SmtpServer, tls: ConnectionOptions = {}): Promise<Mailer> {
  const { createTransport } = await import("nodemailer");
  const { host, port, isTls, requiresTls, user, password } = server;
  const transport = createTransport({
    host,
    port,
    secure: isTls,
    requireTLS: requiresTls,
    ...(user !== undefined && { auth: { user, pass: password ?? "" } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    tls,
  });
  return {
    async send(mail) {
      await transport.sendMail(mail);
    },
    close: () => transport.close(),
  };
}

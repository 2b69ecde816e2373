import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { TEST_TLS } from "../egress/test-tls.ts";

/** One mail as the server accepted it. */
export interface ReceivedMail {
  from: string;
  to: string[];
  /** The mail's source, with its headers. */
  raw: string;
  wasEncrypted: boolean;
  user: string | undefined;
}

export interface SmtpReceiver {
  port: number;
  mails: ReceivedMail[];
  /** Whether it accepts mails; else it says that it can't now. */
  isOpen: boolean;
  /** Accepts no mail until the returned function is called. */
  hold(): () => void;
  /** To whom the mails are that it has received and not accepted yet. */
  held: string[];
  close(): Promise<void>;
}

export const SMTP_USER = "headwater";
export const SMTP_PASSWORD = "p@ss:word";

/**
 * Starts a mail server on a free loopback port: STARTTLS, and no mail without a password; `isPlain`: neither. `port` is for one
 * that was closed.
 */
export async function startSmtpReceiver({ port = 0, isPlain = false } = {}): Promise<SmtpReceiver> {
  const mails: ReceivedMail[] = [];
  const receiver = { isOpen: true };
  const held: string[] = [];
  let released = Promise.resolve();
  const server = new SMTPServer({
    ...TEST_TLS,
    authMethods: ["PLAIN", "LOGIN"],
    authOptional: isPlain,
    hideSTARTTLS: isPlain,
    onAuth: ({ username, password }, _session, done) =>
      username === SMTP_USER && password === SMTP_PASSWORD
        ? done(null, { user: username })
        : done(new Error("wrong user or password")),
    onMailFrom: (_address, _session, done) =>
      done(receiver.isOpen ? null : Object.assign(new Error("try later"), { responseCode: 451 })),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        const to = rcptTo.map(({ address }) => address);
        held.push(...to);
        void released.then(() => {
          held.splice(0);
          mails.push({
            from: mailFrom === false ? "" : mailFrom.address,
            to,
            raw: Buffer.concat(chunks).toString("utf8"),
            wasEncrypted: session.secure,
            user: session.user,
          });
          done();
        });
      });
    },
  });
  // A client that rejects the certificate is a test, and not an error of the server's.
  server.on("error", () => undefined);
  await new Promise<void>(resolve => server.listen(port, "127.0.0.1", resolve));
  const opened = server.server.address() as AddressInfo;
  return Object.assign(receiver, {
    port: opened.port,
    mails,
    held,
    hold() {
      let release = () => {};
      released = new Promise(resolve => {
        release = resolve;
      });
      return () => release();
    },
    close: () => new Promise<void>(resolve => server.close(() => resolve())),
  });
}

const decoded = (text: string) =>
  text.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** Returns the text of a header of a mail, its folded lines joined and its words decoded; undefined without one. */
export function headerOf({ raw }: ReceivedMail, name: string): string | undefined {
  const head = raw.slice(0, raw.indexOf("\r\n\r\n")).replace(/\r\n[ \t]+/g, " ");
  const line = head.split("\r\n").find(one => one.toLowerCase().startsWith(`${name.toLowerCase()}:`));
  return line
    ?.slice(name.length + 1)
    .trim()
    .replace(/\?= =\?/g, "?==?")
    .replace(/=\?UTF-8\?Q\?([^?]*)\?=/g, (_, word: string) => decoded(word.replaceAll("_", " ")));
}

/** Returns the body of a mail with its soft line breaks joined and its quoted characters decoded. */
export const bodyOf = ({ raw }: ReceivedMail): string =>
  decoded(raw.slice(raw.indexOf("\r\n\r\n")).replace(/=\r\n/g, ""));

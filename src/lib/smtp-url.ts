/** Where mail is handed over, and how. */
export interface SmtpServer {
  host: string;
  port: number;
  /** TLS from the first byte on (`smtps`); else STARTTLS, if the server offers it. */
  isTls: boolean;
  /** No mail is handed over in the clear: there is a password, or the host is named as `smtps`. */
  requiresTls: boolean;
  user: string | undefined;
  password: string | undefined;
}

const PORTS: Record<string, number> = { "smtp:": 587, "smtps:": 465 };

/**
 * Returns the parts of `smtp://user:password@host:587` or `smtps://user:password@host`, of which only the host is required. Throws
 * an error whose message says what is wrong, without the URL, because that has a password.
 */
export function parseSmtpUrl(text: string): SmtpServer {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const port = PORTS[url?.protocol ?? ""];
  if (!url || port === undefined || url.hostname === "") {
    throw new Error("must be smtp://user:password@host:port or smtps://user:password@host:port");
  }
  if (!/^\/?$/.test(url.pathname) || url.search !== "" || url.hash !== "") {
    throw new Error("must end after the port");
  }
  if ((url.username === "") !== (url.password === ""))
    throw new Error("needs both a user and a password, or neither");
  const isTls = url.protocol === "smtps:";
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port) || port,
    isTls,
    requiresTls: isTls || url.username !== "",
    user: decoded(url.username),
    password: decoded(url.password),
  };
}

/** An address, or a name and an address: `Headwater <alerts@example.com>`. */
export const MAIL_FROM = /^(?:[^<>"\p{C}]*<[^\s<>@"]+@[^\s<>@"]+>|[^\s<>@"]+@[^\s<>@"]+)$/u;

/** Returns the parts of a URL as above that ends with the sender: `?from=alerts@example.com`. Throws as `parseSmtpUrl` does. */
export function parseMailUrl(text: string): { server: SmtpServer; from: string } {
  const [, url = text, given] = /^([^?]*)\?from=(.*)$/s.exec(text.trim()) ?? [];
  const server = parseSmtpUrl(url);
  if (given === undefined)
    throw new Error("needs the sender of the mails at its end: ?from=alerts@example.com");
  const from = decoded(given) ?? "";
  if (MAIL_FROM.test(from)) return { server, from };
  throw new Error(
    "has a sender that is neither an address nor a name and an address: Headwater <alerts@example.com>",
  );
}

function decoded(part: string): string | undefined {
  try {
    return part === "" ? undefined : decodeURIComponent(part);
  } catch {
    throw new Error("has a part that is not percent-encoded");
  }
}

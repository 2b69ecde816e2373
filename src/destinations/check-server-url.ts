import type { Config } from "../config.ts";
import { checkUrlText } from "../egress/check-url.ts";
import { invalidField } from "../lib/errors.ts";
import { bareHost } from "../lib/hosts.ts";
import { checkPublicHost } from "../webhooks/check-webhook-url.ts";

/** The URL of a server, taken apart. */
export interface ServerUrl {
  /** Without user name and password. */
  url: string;
  username: string | undefined;
  password: string | undefined;
  /** Percent-decoded, without the first slash. */
  path: string;
}

/**
 * Checks the URL of a server that speaks another protocol than HTTP, such as `redis`; with an `s` at its end for TLS. `field`
 * is the path of the field in the body. Throws `invalid`, which shows nothing of the URL: it may have a password.
 */
export function checkServerUrl(
  config: Pick<Config, "egressAllow">,
  field: string,
  text: string,
  protocol: string,
): ServerUrl {
  const invalid = (message: string) => invalidField("body", field, message);
  checkUrlText(text, { in: "body", path: field });
  const [scheme = ""] = text.split(":", 1);
  const asHttp = text.replace(/^[^:]*/, "http");
  const isOf = [protocol, `${protocol}s`].includes(scheme.toLowerCase());
  if (!isOf || !/^http:\/\/[^/\\]/.test(asHttp) || !URL.canParse(text) || !URL.canParse(asHttp)) {
    throw invalid(`must be ${protocol}://HOST:PORT or ${protocol}s://HOST:PORT, for TLS`);
  }
  const { port, username, password, pathname, search, hash } = new URL(text);
  // Only of protocols that browsers know does the parser read a host as they do: `0x7f.1` is an address.
  const { hostname } = new URL(asHttp);
  if (port === "0") throw invalid("must not have port 0");
  if (search || hash) throw invalid("must have no query and no fragment");
  checkPublicHost(config, hostname, { in: "body", path: field });
  const decode = (part: string) => {
    try {
      return decodeURIComponent(part);
    } catch {
      throw invalid("must have its user name, password and path percent-encoded");
    }
  };
  return {
    url: `${scheme.toLowerCase()}://${hostname}${port && `:${port}`}${pathname === "/" ? "" : pathname}`,
    username: decode(username) || undefined,
    password: decode(password) || undefined,
    path: decode(pathname.slice(1)),
  };
}

/** Returns the host and port of a checked URL of this protocol, and whether it asks for TLS. */
export function serverOf(url: string, checkedFor: string, defaults: { plain: number; tls: number }) {
  const { hostname, port, protocol } = new URL(url);
  const isTls = protocol === `${checkedFor}s:`;
  return {
    host: bareHost(hostname),
    port: Number(port || (isTls ? defaults.tls : defaults.plain)),
    isTls,
  };
}

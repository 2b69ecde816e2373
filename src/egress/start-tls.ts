import { isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { bareHost } from "../lib/hosts.ts";
import { EgressError } from "./egress-error.ts";

export interface TlsOptions {
  /** The name that the certificate must be valid for, whatever the address. */
  hostname: string;
  timeoutMs: number;
  /** Certificates in PEM that are trusted, and no others; by default those that Node trusts. */
  ca?: string;
  /** Protocols to agree on, such as `http/1.1`. */
  protocols?: string[];
}

/** Starts TLS on a connected socket. Throws EgressError `timeout`, or what TLS fails with. */
export function startTls(
  socket: Socket,
  { hostname, timeoutMs, ca, protocols }: TlsOptions,
): Promise<Socket> {
  const host = bareHost(hostname);
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      clearTimeout(timer);
      socket.destroy();
      secured?.destroy();
      reject(error);
    };
    const timer = setTimeout(
      () => fail(new EgressError("timeout", `the TLS handshake with ${host} timed out`)),
      timeoutMs,
    );
    const secured = connectTls({
      socket,
      host,
      ...(protocols && { ALPNProtocols: protocols }),
      ...(ca !== undefined && { ca }),
      ...(isIP(host) ? {} : { servername: host }),
    });
    secured.once("error", fail);
    secured.once("secureConnect", () => {
      clearTimeout(timer);
      secured.removeListener("error", fail);
      resolve(secured);
    });
  });
}

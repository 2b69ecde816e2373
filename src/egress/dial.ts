import { connect as connectTcp, type Socket } from "node:net";
import { withDeadline } from "../lib/deadline.ts";
import { type AddressRules, isPublicAddress, mayConnect, parseCidrs } from "./address-rules.ts";
import { BlockedHosts, type BlockedHostsOption } from "./blocked-hosts.ts";
import { EgressError, toEgressError } from "./egress-error.ts";
import { createResolver, type Resolve } from "./resolve.ts";

export interface DialOptions {
  /** CIDRs or single addresses that may be reached besides public addresses. */
  allow: readonly string[];
  /** The platform's own stores, which can never be reached. */
  blockedHosts: BlockedHostsOption;
  /** For resolving the name and connecting, together. */
  connectTimeoutMs: number;
  /** Resolves a host name to its addresses; by default DNS, then the system's resolver. */
  resolve?: Resolve;
}

/** Opens a TCP connection to a checked address of `host`. Throws EgressError, or the signal's reason if aborted. */
export type Dial = (host: string, port: number, signal?: AbortSignal) => Promise<Socket>;

/**
 * Returns the one function that opens connections on behalf of users (docs/design.md#egress-guard). It resolves the
 * name once and connects to the very addresses it checked, so that a name that resolves differently a moment later (DNS
 * rebinding) does not get past the check. Throws AppError `invalid` if an entry of `allow` is not a CIDR.
 */
export function createDial(options: DialOptions): Dial {
  const resolve = options.resolve ?? createResolver(options.connectTimeoutMs);
  const blockedHosts = new BlockedHosts(options.blockedHosts, resolve);
  const rules: AddressRules = {
    allow: parseCidrs(options.allow),
    deny: (ip, port) => blockedHosts.denies(ip, port),
  };

  return async (host, port, signal) => {
    const deadline = Date.now() + options.connectTimeoutMs;
    const bareHost = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
    const [addresses] = await withDeadline(
      Promise.all([resolve(bareHost), blockedHosts.refresh(port)]),
      options.connectTimeoutMs,
      () => new EgressError("dns", `resolving ${host} timed out`),
    );
    const checked = addresses.filter(ip => mayConnect(rules, ip, port));
    if (checked.length === 0) throw new EgressError("blocked-address", `${host} is not a public address`);
    // No honest name has public and private addresses at once. One that does probes which of them is used in the end.
    if (checked.length < addresses.length && checked.some(isPublicAddress)) {
      throw new EgressError("blocked-address", `${host} has both public and non-public addresses`);
    }
    return connectFirst(checked, { host, port, deadline, signal });
  };
}

interface Target {
  host: string;
  port: number;
  deadline: number;
  signal: AbortSignal | undefined;
}

async function connectFirst(addresses: string[], target: Target): Promise<Socket> {
  let failure: EgressError | undefined;
  for (const [index, ip] of addresses.entries()) {
    // An address that does not respond must leave time for the remaining ones.
    const share = Math.max(0, target.deadline - Date.now()) / (addresses.length - index);
    try {
      return await connectOne(ip, target, share);
    } catch (error) {
      target.signal?.throwIfAborted();
      failure = toEgressError(error, target.host);
    }
  }
  throw failure;
}

function connectOne(ip: string, target: Target, timeoutMs: number): Promise<Socket> {
  const { host, port, signal } = target;
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const socket = connectTcp({ host: ip, port, noDelay: true, allowHalfOpen: true });
    const fail = (error: unknown) => {
      cleanUp();
      socket.destroy();
      reject(error);
    };
    const onAbort = () => fail(signal?.reason);
    const timer = setTimeout(
      () => fail(new EgressError("timeout", `connecting to ${host} timed out`)),
      timeoutMs,
    );
    const cleanUp = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      socket.removeListener("error", fail);
      // An error before the next owner adds its own listener must not end the process.
      socket.on("error", () => {});
    };
    signal?.addEventListener("abort", onAbort);
    socket.once("error", fail);
    socket.once("connect", () => {
      cleanUp();
      resolve(socket);
    });
  });
}

import { connect as connectTcp, type Socket } from "node:net";
import { bareHost } from "../lib/hosts.ts";
import { withDeadline } from "../lib/time.ts";
import {
  type AddressRules,
  effectiveAddresses,
  isOwnAddress,
  isPublicAddress,
  mayArriveIn,
  mayConnect,
  parseCidrs,
  portsIn,
} from "./address-rules.ts";
import { BlockedHosts, type BlockedHostsOption, createResolver, type Resolve } from "./blocked-hosts.ts";
import { EgressError, toEgressError } from "./egress-error.ts";
import { isOpened, type PrivateAddress } from "./private-addresses.ts";
import { connectThrough, type EgressProxy } from "./proxy.ts";

export interface DialOptions {
  /** CIDRs or single addresses that may be reached besides public addresses; `none`: nothing may be. */
  allow: readonly string[];
  /** The platform's own stores, which can never be reached. */
  blockedHosts: BlockedHostsOption;
  /** CIDRs or single addresses that can never be reached, even if they are public or allowed. */
  blocked?: readonly string[];
  /** Ports, or ranges such as `135-139`, that can't be reached at any address. */
  blockedPorts?: readonly string[];
  /** The platform's own URLs: their hosts and ports can be reached at an address of this machine that is public. */
  ownUrls?: readonly string[];
  /** Returns true for an address of this machine; by default, the addresses of its interfaces. */
  isOwnAddress?: (ip: string) => boolean;
  /** The forward proxy through which connections are made, to the checked addresses; absent: directly. */
  proxy?: EgressProxy | undefined;
  /** For resolving the name and connecting, together. */
  connectTimeoutMs: number;
  /** Resolves a host name to its addresses; by default DNS, then the system's resolver. */
  resolve?: Resolve;
}

/** The only entry of `allow` where nothing can be reached, and no name is looked up. */
export const NONE = "none";
/** What the error says in that case. */
export const NO_NETWORK = "there is no network";

/**
 * Opens a TCP connection to a checked address of `host`, which may be one that is `opened` to who asks. Throws EgressError, or the
 * signal's reason if aborted.
 */
export type Dial = (
  host: string,
  port: number,
  signal?: AbortSignal,
  opened?: readonly PrivateAddress[],
) => Promise<Socket>;

/**
 * Returns the addresses of `host` that may be connected to, of which there is at least one; besides those for everybody, what is `opened`
 * to who asks. Throws EgressError.
 */
export type CheckAddresses = (
  host: string,
  port: number,
  opened?: readonly PrivateAddress[],
) => Promise<string[]>;

/**
 * Returns the egress guard's check of a host (docs/design.md#egress-guard): it resolves the name once and returns the
 * addresses that it checked, so that a name that resolves differently a moment later (DNS rebinding) does not get past it,
 * if no other address is connected to. Throws AppError `invalid` if an entry of `allow` or `blocked` is not a CIDR, or one
 * of `blockedPorts` not a port.
 */
export function createAddressCheck(options: DialOptions): CheckAddresses {
  if (options.allow.includes(NONE)) {
    return async () => {
      throw new EgressError("blocked-address", NO_NETWORK);
    };
  }
  const resolve = options.resolve ?? createResolver(options.connectTimeoutMs);
  const blockedHosts = new BlockedHosts(options.blockedHosts, resolve);
  const blocked = parseCidrs(options.blocked ?? []);
  const isBlockedPort = portsIn(options.blockedPorts ?? []);
  const rules: AddressRules = {
    allow: parseCidrs(options.allow),
    deny: (ip, port) => mayArriveIn(blocked, ip) || blockedHosts.denies(ip, port),
  };
  const isOwn = (ip: string) => effectiveAddresses(ip).some(options.isOwnAddress ?? isOwnAddress);
  const ownServices = new Set((options.ownUrls ?? []).map(serviceOf));

  return async (host, port, opened = []) => {
    if (isBlockedPort(port)) throw new EgressError("blocked-address", `port ${port} can't be reached`);
    const bareHost = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
    const [addresses] = await withDeadline(
      Promise.all([resolve(bareHost), blockedHosts.refresh(port)]),
      options.connectTimeoutMs,
      () => new EgressError("dns", `resolving ${host} timed out`),
    );
    const isOwnService = ownServices.has(`${bareHost.toLowerCase()} ${port}`);
    const applied: AddressRules = {
      ...rules,
      ...(!isOwnService && { isOwn }),
      ...(opened.length > 0 && { isOpened: ip => isOpened(opened, { host: bareHost, port, ip, isOwn }) }),
    };
    const checked = addresses.filter(ip => mayConnect(applied, ip, port));
    if (checked.length === 0) throw new EgressError("blocked-address", `${host} is not a public address`);
    // No honest name has public and private addresses at once. One that does probes which of them is used in the end.
    if (checked.length < addresses.length && checked.some(isPublicAddress)) {
      throw new EgressError("blocked-address", `${host} has both public and non-public addresses`);
    }
    return checked;
  };
}

/** Returns the one function that opens connections on behalf of users, to addresses that `check` has checked. */
export function createDial(options: DialOptions, check = createAddressCheck(options)): Dial {
  return async (host, port, signal, opened) => {
    const deadline = Date.now() + options.connectTimeoutMs;
    const { proxy } = options;
    return connectFirst(await check(host, port, opened), { host, port, deadline, signal, proxy });
  };
}

/** Returns host and port of a URL as `dial` compares them. */
function serviceOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${bareHost(hostname)} ${port || (protocol === "https:" ? 443 : 80)}`;
}

interface Target {
  host: string;
  port: number;
  deadline: number;
  signal: AbortSignal | undefined;
  proxy: EgressProxy | undefined;
}

async function connectFirst(addresses: string[], target: Target): Promise<Socket> {
  let failure: EgressError | undefined;
  for (const [index, ip] of addresses.entries()) {
    // An address that does not respond must leave time for the remaining ones.
    const share = Math.max(0, target.deadline - Date.now()) / (addresses.length - index);
    try {
      if (!target.proxy) return await connectOne(ip, target, share);
      return await connectThrough(target.proxy, { ...target, ip, timeoutMs: share });
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

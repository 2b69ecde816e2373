import { connect as connectTcp, type Socket } from "node:net";
import { isPublicAddress, mayConnect, parseCidrs } from "./address-rules.ts";
import { createNeverHosts, type NeverHostsOption } from "./blocked-hosts.ts";
import { EgressError, toEgressError } from "./egress-error.ts";
import { createResolver, type Resolve } from "./resolve.ts";

export interface DialOptions {
  /** CIDRs (or single addresses) reachable besides public ones. */
  allow: readonly string[];
  /** The platform's own stores: never reachable. */
  blockedHosts: NeverHostsOption;
  /** For finding the address and connecting, together. */
  connectTimeoutMs: number;
  /** How a name becomes addresses; the system's way by default. */
  resolve?: Resolve;
}

/** Opens a TCP connection to a vetted address of `host`; throws EgressError. */
export type Dial = (host: string, port: number, signal?: AbortSignal) => Promise<Socket>;

/**
 * The one place that opens connections for others. It resolves the name once and connects to the very addresses it
 * checked, so that a name which answers differently a moment later (DNS rebinding) gains nothing.
 * Throws AppError `invalid` when an entry of `allow` is no CIDR.
 */
export function createDial(options: DialOptions): Dial {
  const resolve = options.resolve ?? createResolver(options.connectTimeoutMs);
  const never = createNeverHosts(options.blockedHosts, resolve);
  const rules = { allow: parseCidrs(options.allow), deny: never.deny };

  return async (host, port, signal) => {
    const deadline = Date.now() + options.connectTimeoutMs;
    const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
    const [addresses] = await before(
      Promise.all([resolve(bare), never.refresh(port)]),
      deadline,
      () => new EgressError("dns", `${host} was not resolved in time`),
    );
    const vetted = addresses.filter(ip => mayConnect(rules, ip, port));
    if (vetted.length === 0) throw new EgressError("blocked-address", `${host} is not a public address`);
    // No honest name is in both worlds at once; one that is tries whether the other half is used after the check.
    if (vetted.length < addresses.length && vetted.some(isPublicAddress)) {
      throw new EgressError("blocked-address", `${host} has addresses that are not public among its own`);
    }
    return connectFirst(vetted, { host, port, deadline, signal });
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
    // A silent address may not eat the time of those after it.
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
  return new Promise((done, failed) => {
    const socket = connectTcp({ host: ip, port, noDelay: true, allowHalfOpen: true });
    const fail = (error: unknown) => {
      settle();
      socket.destroy();
      failed(error);
    };
    const onAbort = () => fail(signal?.reason);
    const timer = setTimeout(
      () => fail(new EgressError("timeout", `no connection to ${host} in time`)),
      timeoutMs,
    );
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      socket.removeListener("error", fail);
      // Between the hand-over and the next owner's listener an error must not end the process.
      socket.on("error", () => {});
    };
    signal?.addEventListener("abort", onAbort);
    socket.once("error", fail);
    socket.once("connect", () => {
      settle();
      done(socket);
    });
  });
}

async function before<T>(work: Promise<T>, deadline: number, late: () => EgressError): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), Math.max(0, deadline - Date.now()));
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

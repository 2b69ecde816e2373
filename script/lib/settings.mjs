import { randomBytes } from "node:crypto";
import { Complaint } from "./complaint.mjs";

const LOOPBACK = "127.0.0.0/8,::1/128";
// Kept over starts: what was encrypted stays readable, and a password or key in use stays valid.
const KEPT = ["SECRETS_KEY", "ADMIN_PASSWORD", "HEADWATER_API_KEY"];
// Also written for the command line beside a running start, where a person gave them.
const PASSED_ON = ["HOST", "REDIS_PREFIX", "SANDBOX_EGRESS_ALLOW"];

/**
 * The settings of a development start: the given ones (environment and .env) go first, then what an earlier start
 * kept, then new ones. `port` is the one chosen for the web process.
 */
export function developmentSettings({ given, saved, port }) {
  const kept = Object.fromEntries(KEPT.map(name => [name, given[name] || saved[name]]));
  return {
    ...pick(given, PASSED_ON),
    PORT: String(port),
    PUBLIC_URL: given.PUBLIC_URL || `http://127.0.0.1:${port}`,
    SECRETS_KEY: kept.SECRETS_KEY || randomBytes(32).toString("base64"),
    ADMIN_PASSWORD: kept.ADMIN_PASSWORD || randomBytes(12).toString("base64url"),
    EGRESS_ALLOW: given.EGRESS_ALLOW ?? LOOPBACK,
    HEADWATER_API_KEY: kept.HEADWATER_API_KEY || undefined,
  };
}

/** Whether deliveries may reach this machine only because this is a development start. */
export function allowsLoopback(given) {
  return given.EGRESS_ALLOW === undefined;
}

function pick(settings, names) {
  return Object.fromEntries(names.filter(name => settings[name]).map(name => [name, settings[name]]));
}

/** The number in PORT; 3000 when there is none. Throws Complaint. */
export function portSetting(text) {
  if (!text) return 3000;
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new Complaint(`PORT is "${text}": it must be a number from 0 (any free port) to 65535`);
}

/** Where the web process is reached from this machine. */
export function localUrl(host, port) {
  const name = !host || host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

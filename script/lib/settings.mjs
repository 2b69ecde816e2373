import { randomBytes } from "node:crypto";
import { UserError } from "./user-error.mjs";

const LOOPBACK = "127.0.0.0/8,::1/128";
// Kept between starts, so that encrypted data stays readable, and passwords and keys stay valid.
const KEPT = ["SECRETS_KEY", "ADMIN_PASSWORD", "METRICS_TOKEN", "HEADWATER_API_KEY"];
// Also written, if they are set, for the command line that is used beside a running start.
const PASSED_ON = ["HOST", "REDIS_PREFIX", "SANDBOX_EGRESS_ALLOW"];

/**
 * The settings of a development start: each is the given one (environment and .env), else the one that an earlier
 * start saved, else a new one. `port` is the port of the web process.
 */
export function developmentSettings({ given, saved, port }) {
  const kept = Object.fromEntries(KEPT.map(name => [name, given[name] || saved[name]]));
  return {
    ...pick(given, PASSED_ON),
    PORT: String(port),
    PUBLIC_URL: given.PUBLIC_URL || `http://127.0.0.1:${port}`,
    SECRETS_KEY: kept.SECRETS_KEY || randomBytes(32).toString("base64"),
    ADMIN_PASSWORD: kept.ADMIN_PASSWORD || randomBytes(12).toString("base64url"),
    METRICS_TOKEN: kept.METRICS_TOKEN || randomBytes(24).toString("base64url"),
    EGRESS_ALLOW: given.EGRESS_ALLOW ?? LOOPBACK,
    PAYLOAD_SEARCH_WORDS: given.PAYLOAD_SEARCH_WORDS || "8",
    HEADWATER_API_KEY: kept.HEADWATER_API_KEY || undefined,
  };
}

/** Whether the development default lets deliveries reach this machine: the settings say nothing about it. */
export function allowsLoopback(given) {
  return given.EGRESS_ALLOW === undefined;
}

function pick(settings, names) {
  return Object.fromEntries(names.filter(name => settings[name]).map(name => [name, settings[name]]));
}

/** The number in PORT; 3000 if it is not set. Throws UserError for anything but a port number or 0. */
export function portSetting(text) {
  if (!text) return 3000;
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UserError(`PORT is "${text}": it must be a number from 0 (any free port) to 65535`);
}

/** The URL of the web process on this machine. */
export function localUrl(host, port) {
  const name = !host || host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

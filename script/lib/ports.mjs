import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { UserError } from "./user-error.mjs";

const TRIES = 100;

/** Whether a server could listen on this port now. Throws UserError if the host can't be used at all. */
export function isFree(port, host = "127.0.0.1") {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", error => {
      // A forbidden (low) port counts as taken. Other errors, such as an unknown host, don't depend on the port.
      if (error.code === "EADDRINUSE" || error.code === "EACCES") resolve(false);
      else reject(new UserError(`can't listen on ${host}:${port} (${error.code}): check HOST and PORT`));
    });
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/**
 * Returns a free loopback port: `remembered` if it is free, else the first free one from `first` on. A `first` of 0
 * means any port. Throws UserError if there is none.
 */
export async function choosePort(first, remembered) {
  if (first === 0) return anyPort();
  if (remembered && (await isFree(remembered))) return remembered;
  for (let port = first; port < first + TRIES; port++) {
    if (await isFree(port)) return port;
  }
  throw new UserError(
    `no free port from ${first} to ${first + TRIES - 1}: stop one of the programs that listen there`,
  );
}

/**
 * Below those that Linux gives to outgoing connections: one of these may have the port when a server that was stopped
 * listens on it again.
 */
const SERVER_PORTS = { first: 16_384, count: 16_384 };

async function anyPort() {
  for (;;) {
    const port = SERVER_PORTS.first + Math.floor(Math.random() * SERVER_PORTS.count);
    if (await isFree(port)) return port;
  }
}

/** The ports that an earlier start chose, by name; none if the file is missing or damaged. */
export function readPorts(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
}

/** Remembers a port, so that the next start uses the same address. */
export function rememberPort(file, name, port) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ ...readPorts(file), [name]: port })}\n`);
}

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { Complaint } from "./complaint.mjs";

const TRIES = 100;

/** Whether a server could listen there now. */
export function isFree(port, host = "127.0.0.1") {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", error => {
      // Not allowed (a low port) is as good as taken; anything else, such as an unknown host, is not about ports.
      if (error.code === "EADDRINUSE" || error.code === "EACCES") resolve(false);
      else reject(new Complaint(`can't listen on ${host}:${port} (${error.code}): check HOST and PORT`));
    });
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** A free loopback port: the remembered one, else the first from `first` on; `first` 0 means any. */
export async function choosePort(first, remembered) {
  if (first === 0) return anyPort();
  if (remembered && (await isFree(remembered))) return remembered;
  for (let port = first; port < first + TRIES; port++) {
    if (await isFree(port)) return port;
  }
  throw new Complaint(`no free port from ${first} to ${first + TRIES - 1}: end some of what listens there`);
}

function anyPort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen({ port: 0, host: "127.0.0.1" }, () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** The ports an earlier start chose, by name; a missing or broken file means none. */
export function readPorts(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
}

/** Remembers a port, so that the next start gives the same address. */
export function rememberPort(file, name, port) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ ...readPorts(file), [name]: port })}\n`);
}

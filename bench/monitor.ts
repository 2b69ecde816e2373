import { connect as connectPlain, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { connect as connectTls } from "node:tls";
import { type Asked, tlsFor } from "../src/store/connections/diagnose-redis.ts";

/** Calls `onCommand` with each command that a Redis server executes, until the returned function is called. */
export async function monitor(
  server: Asked,
  onCommand: (args: string[], isInside: boolean) => void,
): Promise<() => void> {
  const socket = await connected(server);
  const { username, password } = server;
  if (password !== undefined) socket.write(command(["AUTH", username ?? "default", password]));
  socket.write(command(["MONITOR"]));
  createInterface({ input: socket }).on("line", line => {
    const [, source = "", rest] = /^\+[\d.]+ \[\d+ ([^\]]*)\] (.*)$/.exec(line) ?? [];
    if (rest !== undefined) onCommand(argsOf(rest), source === "lua");
    else if (line.startsWith("-")) throw new Error(`MONITOR: ${line.slice(1)}`);
  });
  return () => void socket.destroy();
}

async function connected({ host, port, tls }: Asked): Promise<Socket> {
  return await new Promise((resolve, reject) => {
    const socket = tls ? connectTls({ host, port, ...tlsFor(tls, host) }) : connectPlain({ host, port });
    socket.once(tls ? "secureConnect" : "connect", () => resolve(socket)).once("error", reject);
  });
}

const command = (words: string[]): string =>
  `*${words.length}\r\n${words.map(word => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;

/** Parses `"set" "key" "a\x00b"`; a byte that is not printable becomes one character. */
const argsOf = (text: string): string[] =>
  [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, arg = ""]) =>
    arg.replaceAll(/\\(x[0-9a-f]{2}|.)/g, "?"),
  );

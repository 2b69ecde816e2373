import type { ChildMessage, ParentMessage } from "./wire.ts";

declare const Deno: {
  stdin: { read(into: Uint8Array): Promise<number | null> };
  stdout: { writeSync(bytes: Uint8Array): number };
  exit(code: number): never;
};

// Stored before the component's code runs, so that changes it makes to globals do not affect the protocol.
const { stdin, stdout, exit } = Deno;
const read = stdin.read.bind(stdin);
const writeSync = stdout.writeSync.bind(stdout);
const { parse, stringify } = JSON;
const encoder = new TextEncoder();
const encode = encoder.encode.bind(encoder);
const decoder = new TextDecoder();
const decode = decoder.decode.bind(decoder);

let secret = "";

/** Sets the prefix of every line from now on. */
export function setSecret(prefix: string): void {
  secret = prefix;
}

export function send(message: ChildMessage): void {
  sendJson(stringify(message));
}

/** Sends a message that is JSON already. */
export function sendJson(json: string): void {
  // The line break in front ends a line that the component may have started on the same file descriptor.
  const bytes = encode(`\n${secret}${json}\n`);
  for (let sent = 0; sent < bytes.length; ) sent += writeSync(bytes.subarray(sent));
}

/** Ends the process at once. */
export function exitProcess(code: number): never {
  return exit(code);
}

/** Passes each message of the host to `onMessage`. When the host has gone, it ends the process. */
export async function receive(onMessage: (message: ParentMessage) => void): Promise<never> {
  const buffer = new Uint8Array(64 * 1024);
  let parts: Uint8Array[] = [];
  for (;;) {
    const size = await read(buffer);
    if (size === null) return exitProcess(0);
    let from = 0;
    for (let end = buffer.indexOf(10); end >= 0 && end < size; end = buffer.indexOf(10, from)) {
      parts.push(buffer.slice(from, end));
      onMessage(parse(decode(concat(parts))) as ParentMessage);
      parts = [];
      from = end + 1;
    }
    if (from < size) parts.push(buffer.slice(from, size));
  }
}

function concat(parts: Uint8Array[]): Uint8Array {
  if (parts.length === 1 && parts[0]) return parts[0];
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

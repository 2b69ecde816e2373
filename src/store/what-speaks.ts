import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import mongoose from "mongoose";
import type { RedisServer } from "./redis-url.ts";

const TIMEOUT_MS = 1000;

/** Protocols by which a port is told from that of something else. */
export type Protocol = "TLS" | "MongoDB" | "Redis" | "HTTP";

/** Returns which of them a server speaks; null if none, or if it says nothing in a second. */
export async function whatSpeaks(server: RedisServer): Promise<Protocol | null> {
  const asked = await Promise.all(
    ASK.map(async ([protocol, ask]) => ((await ask(server)) ? protocol : null)),
  );
  return asked.find(protocol => protocol !== null) ?? null;
}

/** Returns true if a TLS connection to the server can be opened, whatever its certificate. Nothing is sent over it. */
const speaksTls = ({ host, port }: RedisServer): Promise<boolean> =>
  outcome(connectTls({ host, port, rejectUnauthorized: false }), "secureConnect", () => true);

/** Asks in the clear. */
const asking =
  (question: string | Buffer, judge: (answer: Buffer) => boolean) =>
  ({ host, port }: RedisServer): Promise<boolean> => {
    const socket = connect({ host, port }, () => void socket.write(question));
    return outcome(socket, "data", data => judge(data as Buffer));
  };

/** As a Redis responds to a command, if only that it wants a password. */
const REDIS = /^(\+PONG|-[A-Z]+ )/;

/** https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/ */
const OP_MSG = 2013;
const HEADER_BYTES = 16;

/** The first message of a driver. */
function mongoHello(): Buffer {
  const document = mongoose.mongo.BSON.serialize({ hello: 1, $db: "admin" });
  const head = Buffer.alloc(HEADER_BYTES + 5);
  head.writeInt32LE(head.length + document.length, 0);
  head.writeInt32LE(OP_MSG, 12);
  return Buffer.concat([head, document]);
}

const isMongoReply = (answer: Buffer) =>
  answer.length >= HEADER_BYTES && answer.readInt32LE(12) === OP_MSG && answer.readInt32LE(0) < 2 ** 20;

/** The first that is right counts: MongoDB responds to HTTP too, with a hint for people. */
const ASK: readonly (readonly [Protocol, (server: RedisServer) => Promise<boolean>])[] = [
  ["TLS", speaksTls],
  ["MongoDB", asking(mongoHello(), isMongoReply)],
  ["Redis", asking("PING\r\n", answer => REDIS.test(String(answer)))],
  ["HTTP", asking("GET / HTTP/1.0\r\n\r\n", answer => String(answer).startsWith("HTTP/"))],
];

/** Resolves with what `judge` says of the event, and with false after an error or if the server says nothing. */
function outcome(socket: Socket, event: string, judge: (data: unknown) => boolean): Promise<boolean> {
  return new Promise(resolve => {
    const timer = setTimeout(() => end(false), TIMEOUT_MS);
    const end = (is: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(is);
    };
    socket.on(event, data => end(judge(data)));
    for (const failure of ["error", "close"]) socket.on(failure, () => end(false));
  });
}

import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { expect } from "chai";
import { sendTest } from "../../src/deliveries/attempt/send.ts";
import { createDestination } from "../../src/destinations/destinations.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { OWNER, webhookOf } from "../deliveries/fixtures.ts";
import { openTestPlatform, type TestPlatform } from "../support/platform.ts";

/** What a destination may send at most, again and again. */
const PART = "x".repeat(LIMITS.destinationReplyBytes.value);

describe("a server that is not what a destination says", () => {
  let platform: TestPlatform;
  const servers: Server[] = [];
  const sockets = new Set<Socket>();

  before(async () => {
    platform = await openTestPlatform({ TIMEOUTS: "attempt:1s" }, { process: "web" });
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
    await platform.destroy();
  });

  const serve = async (behave: (socket: Socket) => void) => {
    const server = createServer(socket => {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.once("data", () => behave(socket));
    });
    servers.push(server);
    await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  };
  const KINDS = {
    redis_stream: (port: number) => ({ redis_stream: { url: `redis://127.0.0.1:${port}`, stream: "x" } }),
    rabbitmq: (port: number) => ({ rabbitmq: { url: `amqp://127.0.0.1:${port}`, queue: "x" } }),
  };
  const send = async (kind: keyof typeof KINDS, behave: (socket: Socket) => void) => {
    const body = KINDS[kind](await serve(behave));
    const { id } = await createDestination(platform, { ...body, ownerId: OWNER, userId: OWNER });
    return await sendTest(platform, await webhookOf(platform, id));
  };
  /** Writes the same again and again, as long as it is read. */
  const flood = (first: string, part: string) => (socket: Socket) => {
    const more = () => {
      while (!socket.destroyed && socket.write(part));
    };
    socket.on("drain", more);
    socket.write(first);
    more();
  };

  it("is cut off when it sends without end", async () => {
    const redis = await send("redis_stream", flood("+", PART));
    expect(redis.error).to.match(/^protocol: 127\.0\.0\.1 sends more than a reply$/);
    const frame = Buffer.from([1, 0, 0, 0, 0, 0x10, 0]).toString("latin1");
    const rabbitmq = await send("rabbitmq", flood(frame, PART));
    expect(rabbitmq.error).to.match(/^(reset|protocol): /);
    for (const socket of sockets) expect(socket.bytesWritten).to.be.below(64 * 2 ** 20);
  });

  for (const kind of ["redis_stream", "rabbitmq"] as const) {
    it(`fails the attempt if it speaks another protocol: ${kind}`, async () => {
      const { error } = await send(kind, socket => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
      expect(error).to.match(/^(reset|protocol): /);
    });

    it(`fails the attempt if it says nothing: ${kind}`, async () => {
      const { error } = await send(kind, () => undefined);
      expect(error).to.match(/^timeout: /);
    });

    it(`fails the attempt if it hangs up: ${kind}`, async () => {
      const { error } = await send(kind, socket => socket.destroy());
      expect(error).to.match(/^reset: /);
    });
  }
});

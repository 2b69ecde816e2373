import { expect } from "chai";
import { sendTest } from "../../src/deliveries/attempt/send.ts";
import { createDestination, deleteDestination } from "../../src/destinations/destinations.ts";
import type { NewDestinationBody } from "../../src/destinations/schema.ts";
import { deliveriesOf, emit, OWNER, webhookOf } from "../deliveries/fixtures.ts";
import type { TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";
import { allDelivered, subscribeDestination } from "./fixtures.ts";

/** A server of an account's own that destinations hand their events to over a lasting connection. */
export interface OwnServer {
  platform: TestPlatform;
  /** Makes a place for events on the server; returns the destination that hands them over there. */
  destinationAt(place: string): Promise<NewDestinationBody>;
  /** Returns what has arrived at the place, in order, each under its delivery's id. */
  received(place: string): Promise<{ id: string; body: string }[]>;
  kill(): Promise<void>;
  start(): Promise<void>;
  connections(): number | Promise<number>;
  /** How many of them are the test's own, where those of a destination take a while to close. */
  ownConnections?: number;
}

/** What a destination does whatever the protocol of its server. `serverOf` returns what a `before` has opened. */
export function deliversToOwnServer(serverOf: () => OwnServer): void {
  it("keeps the order of the events if the destination is ordered", async () => {
    const { platform, destinationAt, received } = serverOf();
    const listener = await subscribeDestination(platform, {
      ...(await destinationAt("in-order")),
      ordered: true,
    });
    for (let n = 0; n < 20; n++) await emit(platform, [listener], { n });
    await allDelivered(platform, listener.webhookId, 20);
    const numbers = (await received("in-order")).map(({ body }) => JSON.parse(body).n);
    expect(numbers).to.deep.equal([...numbers.keys()]);
  });

  it("retries after the server was killed, and hands over each event under its one id", async () => {
    const { platform, destinationAt, received, kill, start } = serverOf();
    const listener = await subscribeDestination(platform, await destinationAt("killed"));
    await emit(platform, [listener], { n: 1 });
    await allDelivered(platform, listener.webhookId, 1);
    await kill();
    for (const n of [2, 3, 4]) await emit(platform, [listener], { n });
    await until(async () =>
      (await deliveriesOf(platform, listener.webhookId))
        .slice(1)
        .every(({ attempts }) => attempts.length > 0),
    );
    await start();
    const delivered = await allDelivered(platform, listener.webhookId, 4);
    expect(delivered[1]?.attempts[0]?.error).to.match(/^(connect|reset): /);
    const ids = new Set((await received("killed")).map(({ id }) => id));
    expect([...ids].sort()).to.deep.equal(delivered.map(({ _id }) => _id).sort());
  });

  it("uses one connection for a destination, and closes it when the destination is deleted", async () => {
    const { platform, destinationAt, connections, ownConnections } = serverOf();
    const body = await destinationAt("one");
    const { id } = await createDestination(platform, { ...body, ownerId: OWNER, userId: OWNER });
    await until(() => platform.lastingConnections.size === 0);
    // Those of the test alone.
    const before = await until(async () => {
      const count = await connections();
      return count === (ownConnections ?? (await connections())) && { count };
    });
    const destination = await webhookOf(platform, id);
    await Promise.all(Array.from({ length: 20 }, () => sendTest(platform, destination)));
    // RabbitMQ lists a connection a moment after it is open.
    await until(async () => (await connections()) === before.count + 1, { what: "one connection more" });
    await deleteDestination(platform, destination);
    await until(async () => (await connections()) === before.count);
  });
}

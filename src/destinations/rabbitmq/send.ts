import { traceHeaders } from "../../tracing/trace-context.ts";
import type { Message, SendToDestination } from "../message.ts";
import { onConnection } from "../on-connection.ts";
import { outcomeOf } from "../outcome.ts";
import { openSettings } from "../settings.ts";
import { connectToRabbitMq } from "./connect.ts";
import type { RabbitMqSettings } from "./kind.ts";

/** Publishes a message to a RabbitMQ (docs/destinations.md#rabbitmq), whose consumers drop repeats by `message_id`. */
export const sendToRabbitMq: SendToDestination = async (platform, destination, message, signal, atMs) => {
  const settings = openSettings<RabbitMqSettings>(platform.secrets, destination);
  const { queue, exchange, routing_key } = settings;
  const published = {
    exchange: exchange ?? "",
    routingKey: queue ?? routing_key ?? "",
    id: `${message.id}-${message.attempt}`,
    body: message.body,
    properties: propertiesOf(message, atMs),
  };
  return await outcomeOf(signal, async () => {
    await onConnection(
      platform,
      { destination, signal },
      () => connectToRabbitMq(platform.egress, settings, platform.config.deliveries.timeoutMs),
      broker => broker.publish(published),
    );
    return { status: 200, response: "confirmed" };
  });
};

const propertiesOf = ({ id, eventId, emitterId, eventName, attempt, trace }: Message, atMs: number) => ({
  messageId: id,
  contentType: "application/json",
  timestamp: Math.floor(atMs / 1000),
  appId: "headwater",
  headers: {
    "x-headwater-event-id": eventId,
    "x-headwater-emitter-id": emitterId,
    "x-headwater-event-name": eventName,
    "x-headwater-attempt": attempt,
    ...traceHeaders(trace),
  },
});

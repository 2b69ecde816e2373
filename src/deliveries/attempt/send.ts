import { sendToAction } from "../../destinations/action/send.ts";
import type { EndpointResponse, Message, SendDeps, SendToDestination } from "../../destinations/message.ts";
import { sendToRabbitMq } from "../../destinations/rabbitmq/send.ts";
import { sendToRedisStream } from "../../destinations/redis-stream/send.ts";
import { sendToS3 } from "../../destinations/s3/send.ts";
import { type DestinationKind, isDestination, type Webhook } from "../../models/webhook.ts";
import { sendToEndpoint } from "./send-http.ts";

/** How each kind of destination is handed a message. */
const sendTo: Record<DestinationKind, SendToDestination> = {
  redis_stream: sendToRedisStream,
  rabbitmq: sendToRabbitMq,
  s3: sendToS3,
  action: sendToAction,
};

/**
 * Hands a message to its webhook or destination once, at `atMs`. One that fails is a result and not an exception. Throws
 * `unavailable` if `signal` aborts the attempt, because its effect is unknown then, or if this process can open no connection.
 */
export function send(
  platform: SendDeps,
  webhook: Webhook,
  message: Message,
  signal?: AbortSignal,
  atMs = platform.clock(),
): Promise<EndpointResponse> {
  if (!isDestination(webhook)) return sendToEndpoint(platform, webhook, message, signal, atMs);
  return sendTo[webhook.kind](platform, webhook, message, signal, atMs);
}

import { traceHeaders } from "../../tracing/trace-context.ts";
import type { Message, SendToDestination } from "../message.ts";
import { onConnection } from "../on-connection.ts";
import { outcomeOf } from "../outcome.ts";
import { openSettings } from "../settings.ts";
import { connectToRedis } from "./connect.ts";
import type { RedisStreamSettings } from "./kind.ts";

/** Adds a message to a stream of Redis (docs/destinations.md#redis-streams), whose consumers drop repeats by `id`. */
export const sendToRedisStream: SendToDestination = async (platform, destination, message, signal) => {
  const settings = openSettings<RedisStreamSettings>(platform.secrets, destination);
  const { stream, max_length } = settings;
  return await outcomeOf(signal, async () => {
    const entryId = await onConnection(
      platform,
      { destination, signal },
      () => connectToRedis(platform.egress, settings),
      redis => redis.run("XADD", stream, "MAXLEN", "~", max_length, "*", ...fieldsOf(message)),
    );
    return { status: 200, response: String(entryId) };
  });
};

const fieldsOf = ({ id, eventId, emitterId, eventName, attempt, body, trace }: Message) => [
  ...["id", id],
  ...["event_id", eventId],
  ...["emitter_id", emitterId],
  ...["event_name", eventName],
  ...["attempt", attempt],
  ...["payload", body],
  ...Object.entries(traceHeaders(trace)).flat(),
];

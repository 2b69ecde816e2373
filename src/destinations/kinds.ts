import type { DestinationKind } from "../models/webhook.ts";
import { action } from "./action/kind.ts";
import type { Kind } from "./kind.ts";
import { pull } from "./pull/kind.ts";
import { rabbitMq } from "./rabbitmq/kind.ts";
import { redisStream } from "./redis-stream/kind.ts";
import { s3 } from "./s3/kind.ts";

/** All kinds of destinations, by the name of the field that has their settings. */
export const KINDS: Record<DestinationKind, Kind> = {
  redis_stream: redisStream,
  rabbitmq: rabbitMq,
  s3,
  action,
  pull,
};

export const KIND_NAMES = Object.keys(KINDS) as DestinationKind[];

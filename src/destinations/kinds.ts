import type { DestinationKind } from "../models/webhook.ts";
import { action } from "./action/kind.ts";
import type { Kind } from "./kind.ts";
import { redisStream } from "./redis-stream/kind.ts";

/** All kinds of destinations, by the name of the field that has their settings. */
export const KINDS: Record<DestinationKind, Kind> = { redis_stream: redisStream, action };

export const KIND_NAMES = Object.keys(KINDS) as DestinationKind[];

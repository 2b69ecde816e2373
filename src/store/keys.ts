/**
 * Every Redis key of ours, one function each. What belongs to one emitter shares its hash tag, so that one script may
 * touch all of it on a cluster (design.md, "Stores").
 */
export type EventStream = "emits" | "errors" | "logs";

export function redisKeys(prefix: string) {
  const emitter = (id: string, name: string) => `${prefix}:{${id}}:${name}`;
  return {
    /** Last event id given, as its score. */
    lastEventScore: (emitterId: string) => emitter(emitterId, "last"),
    /** Sorted set: event id by score. */
    eventIds: (emitterId: string, stream: EventStream) => emitter(emitterId, `events:${stream}`),
    /** Hash: event id to the stored summary. */
    eventSummaries: (emitterId: string, stream: EventStream) => emitter(emitterId, `summaries:${stream}`),
    /** Sorted set: emit id by the score of its event, of the newest emissions. */
    seenEmits: (emitterId: string) => emitter(emitterId, "seen-order"),
    /** Pub/sub channel of an emitter's events, for live views. */
    eventFeed: (emitterId: string) => emitter(emitterId, "feed"),
    /** List: runs waiting for this source, oldest first. */
    runLine: (sourceId: string) => emitter(sourceId, "line"),
    /** List: changes waiting for this source, before its runs. */
    changeLine: (sourceId: string) => emitter(sourceId, "changes"),
    /** List: runs that were taken, kept until they are done. */
    runsInHand: (sourceId: string) => emitter(sourceId, "in-hand"),
    /** How many workers died under the first run in hand. */
    runDeaths: (sourceId: string) => emitter(sourceId, "deaths"),
    /** Who works off the line. */
    runLease: (sourceId: string) => emitter(sourceId, "lease"),
    /** Set while a wake job is on its way. */
    runWake: (sourceId: string) => emitter(sourceId, "wake"),
    /** Run id of the timer run that waits in the line. */
    timerWaiting: (sourceId: string) => emitter(sourceId, "timer-waiting"),
    /** When the last timer run was put into the line, and which. */
    timerPassed: (sourceId: string) => emitter(sourceId, "timer-passed"),
    /** Sorted set: sources that may have runs waiting, by the time of the newest. */
    runLines: () => `${prefix}:lines`,
    /** Sorted set: deliveries in flight to a webhook, by when their place expires. */
    webhookInFlight: (webhookId: string) => emitter(webhookId, "in-flight"),
    /** Sorted set: deliveries waiting for a place, by when they came. */
    webhookWaiting: (webhookId: string) => emitter(webhookId, "waiting"),
    /** Hash: what is left of the attempts that a webhook's rate limit allows, and when that was so. */
    webhookTokens: (webhookId: string) => emitter(webhookId, "tokens"),
    /** Count of a long list, kept a while; `list` names it with its filter. */
    listCount: (ownerId: string, list: string) => emitter(ownerId, `count:${list}`),
    /** Hash: what an account used on a day. */
    usage: (ownerId: string, day: string) => emitter(ownerId, `usage:${day}`),
    /** Hash: events of an emitter dropped on purpose, reason to count. */
    drops: (emitterId: string) => emitter(emitterId, "drops"),
    /** Pub/sub channel on which one web process hears of the runs it waits for. */
    replies: (processId: string) => `${prefix}:replies:${processId}`,
    /** Changes with all that decides who gets an event. */
    directoryVersion: () => `${prefix}:directory`,
    leader: () => `${prefix}:leader`,
    rateLimit: () => `${prefix}:rate`,
    idempotency: () => `${prefix}:idempotency`,
    writeProbe: () => `${prefix}:probe`,
    counters: () => `${prefix}:counters`,
  };
}

export type RedisKeys = ReturnType<typeof redisKeys>;

/**
 * Every Redis key, one function each. The keys of one emitter share its hash tag, so that one script may touch all of them
 * on a cluster (docs/design.md#stores).
 */
export type EventStream = "emits" | "errors" | "logs";

export function redisKeys(prefix: string) {
  const tagged = (id: string, name: string) => `${prefix}:{${id}}:${name}`;
  return {
    /** String: the newest event id of an emitter, as its score. */
    lastEventScore: (emitterId: string) => tagged(emitterId, "last-score"),
    /** Sorted set: event ids by score. */
    eventIds: (emitterId: string, stream: EventStream) => tagged(emitterId, `events:${stream}`),
    /** Hash: event id → stored summary. */
    eventSummaries: (emitterId: string, stream: EventStream) => tagged(emitterId, `summaries:${stream}`),
    /** Sorted set: emit ids of the newest emissions, by the score of their event. */
    seenEmits: (emitterId: string) => tagged(emitterId, "seen-emits"),
    /** Sorted set: further emit ids of the last minutes, by the score of their event. */
    recentEmits: (emitterId: string) => tagged(emitterId, "recent-emits"),
    /** String: the highest score of an emitter's stored events. */
    newestStored: (emitterId: string) => tagged(emitterId, "newest-stored"),
    /** Sorted set: ids of events that were stored after later ones, by when they were. */
    lateEvents: (emitterId: string) => tagged(emitterId, "late-events"),
    /**
     * String: `here <ms>` if an emitter's events and drops are in Redis, and since when; `archive <version>` for a while after
     * they were archived. Without it they may be in an archive (src/store/events/event-archive.ts).
     */
    eventsPlace: (emitterId: string) => tagged(emitterId, "events-place"),
    /** Pub/sub channel: an emitter's events, for live views. */
    eventFeed: (emitterId: string) => tagged(emitterId, "feed"),
    /** List: runs that wait for this source, oldest first. */
    runQueue: (sourceId: string) => tagged(sourceId, "run-queue"),
    /** List: changes that wait for this source, ahead of its runs. */
    changeQueue: (sourceId: string) => tagged(sourceId, "change-queue"),
    /** List: claimed runs, kept until they are acknowledged. */
    claimedRuns: (sourceId: string) => tagged(sourceId, "claimed-runs"),
    /** Hash: the bytes in a source's three queues, how many of them its account knows of, and that account. */
    queueSize: (sourceId: string) => tagged(sourceId, "queue-size"),
    /** Hash: source → bytes that wait for it, and their total, of one account. */
    queuedBytes: (ownerId: string) => tagged(ownerId, "queued-bytes"),
    /** Counter: bytes of an account's emissions on their queue, as far as they are counted. */
    emissionBytes: (ownerId: string) => tagged(ownerId, "emission-bytes"),
    /** Sorted set: emissions that have or get event ids and are not stored, by a time before those, of one account. */
    emissionsOnTheirWay: (ownerId: string) => tagged(ownerId, "emissions-on-their-way"),
    /** List: jobs on the queue of workflow events that an engine may not have finished, of one account, oldest first. */
    workflowJobs: (ownerId: string) => tagged(ownerId, "workflow-jobs"),
    /** Counter: their bytes. */
    workflowBytes: (ownerId: string) => tagged(ownerId, "workflow-bytes"),
    /** Hash: time and run id → what is left to be done for runs that are over, which `SettledRuns` describes. */
    settledRuns: (sourceId: string) => tagged(sourceId, "settled-runs"),
    /** Counter: workers that crashed under the first claimed run. */
    runCrashes: (sourceId: string) => tagged(sourceId, "crashes"),
    /** String: the token of the process that executes the source's runs. */
    runLease: (sourceId: string) => tagged(sourceId, "lease"),
    /** String: the notification that is on its way to a worker, and when its job was last promised. */
    runsNotified: (sourceId: string) => tagged(sourceId, "notified"),
    /** String: run id and JSON of the timer run that waits in the run queue. */
    timerWaiting: (sourceId: string) => tagged(sourceId, "timer-waiting"),
    /** String: when the last tick was admitted, and its run id. */
    timerAdmitted: (sourceId: string) => tagged(sourceId, "timer-admitted"),
    /** Sorted set: hashes of the ids of verified requests for a source, by when they arrived; only if it drops repeats. */
    arrivedIds: (sourceId: string) => tagged(sourceId, "arrived-ids"),
    /** List: the last requests for a source that were not verified, the newest first. */
    rejections: (sourceId: string) => tagged(sourceId, "rejections"),
    /** Hash: their number by reason, and since when there was no other request, which `rejections.ts` describes. */
    rejectionState: (sourceId: string) => tagged(sourceId, "rejection-state"),
    /** Flag: set while the source's owner knows from a run record that its quota is used up. */
    quotaReported: (sourceId: string) => tagged(sourceId, "quota-reported"),
    /** Sorted set: sources that may have runs waiting, by the time of the newest run. */
    sourcesWithRuns: () => `${prefix}:sources-with-runs`,
    /** Sorted set: permits of the deliveries in flight to a webhook, by expiry. */
    webhookPermits: (webhookId: string) => tagged(webhookId, "permits"),
    /** Sorted set: the drain of a webhook that is under way, and whether a backlog waits for another, by expiry. */
    webhookDrains: (webhookId: string) => tagged(webhookId, "drains"),
    /** Of earlier releases, in which deliveries waited in Redis: deleted as webhooks are drained. */
    webhookWaitlist: (webhookId: string) => tagged(webhookId, "waitlist"),
    webhookOverflow: (webhookId: string) => tagged(webhookId, "overflow"),
    /** Hash: the token bucket of a webhook's rate limit. */
    webhookTokens: (webhookId: string) => tagged(webhookId, "tokens"),
    /** String: the count of a long list, cached; `list` names the list and its filter. */
    listCount: (ownerId: string, list: string) => tagged(ownerId, `count:${list}`),
    /** Hash: what an account used on one day. */
    usage: (ownerId: string, day: string) => tagged(ownerId, `usage:${day}`),
    /** What `SCAN` matches to find every key of one thing that has an id, of all of them. */
    tagged: () => `${prefix}:{*}:*`,
    /** Counter: emissions of a source that have their scores and are not events yet. */
    unhandledEmissions: (emitterId: string) => tagged(emitterId, "unhandled-emissions"),
    /** Flag: this document was deleted a moment ago. */
    deleted: (id: string) => `${prefix}:deleted:${id}`,
    /** Hash: drop reason → events of an emitter dropped for it. */
    drops: (emitterId: string) => tagged(emitterId, "drops"),
    /** String: the reply to a run, until the web process that waits for it reads it. */
    reply: (processId: string, runId: string) => tagged(`replies-${processId}`, runId),
    /** Pub/sub channel: names of the replies to the runs one web process waits for. */
    replies: (processId: string) => `${prefix}:replies:${processId}`,
    /** String: changes with everything that decides who receives an event. */
    routingVersion: () => tagged("routing", "version"),
    /** List: the accounts of the last changes, newest first. */
    routingChanges: () => tagged("routing", "changes"),
    /** Hash: queue → its number of shards, which `grow-queue-shards.lua` describes. */
    queueShards: () => `${prefix}:queue-shards`,
    /** Lock: the process that reconciles, if it is of a release whose processes did not share the work. */
    reconcilerLock: () => `${prefix}:reconciler`,
    /** Hash: unit of the reconciler's work → until when no other process may claim it, and the one that did. */
    sweepUnits: () => `${prefix}:sweep-units`,
    /** Hash: unit of the reconciler's work → where its last turn stopped, and when. */
    sweepTurns: () => `${prefix}:sweep-turns`,
    /** The masters of Redis at the last look, by the id of their start: others mean that jobs may be lost. */
    knownMasters: () => `${prefix}:known-masters`,
    /** Hash: sweep step and item → why the item was set aside, and when it is tried again. */
    setAsideItems: () => `${prefix}:{set-aside}:items`,
    /** Sorted set: the fields of that hash, by the time at which each is removed. */
    setAsideExpiries: () => `${prefix}:{set-aside}:expiries`,
    /** Pub/sub channel: deliveries and runs of an account, for live views. */
    accountFeed: (ownerId: string) => tagged(ownerId, "account-feed"),
    /** Pub/sub channel: says that something is kept for a program to pull. */
    pullFeed: (listenerId: string) => tagged(listenerId, "pull-feed"),
    /** Sorted set: accounts with an open live view, by the time until which it is watched. */
    watchedAccounts: () => `${prefix}:watched-accounts`,
    /** Flag: a session of the board that was signed out, until it would have expired. */
    endedSession: (sessionId: string) => `${prefix}:ended-session:${sessionId}`,
    /** Flag: a return from an OpenID provider, by the hash of its state, until it would have expired. */
    usedSignIn: (stateHash: string) => `${prefix}:used-sign-in:${stateHash}`,
    /** Lock: the process that renews a connection's token. */
    connectionRenewal: (connectionId: string) => tagged(connectionId, "renewal"),
    /** String: a consent that was asked for, encrypted, by the hash of its link's token. */
    consentTicket: (hash: string) => `${prefix}:consent-ticket:${hash}`,
    /** String: a consent that is with the app, encrypted, by the hash of its state. */
    consentState: (hash: string) => `${prefix}:consent-state:${hash}`,
    /** What `SCAN` matches to find every key that may hold an encrypted text. */
    sealed: () => [`${prefix}:idempotency:*`, `${prefix}:consent-ticket:*`, `${prefix}:consent-state:*`],
    rateLimit: () => `${prefix}:rate`,
    idempotency: () => `${prefix}:idempotency`,
    writeProbe: () => `${prefix}:probe`,
  };
}

export type RedisKeys = ReturnType<typeof redisKeys>;

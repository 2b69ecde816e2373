import type { Webhook } from "../../models/webhook.ts";
import { leavePlaces, type PlacePlatform, placesOf, UNLIMITED } from "./permits.ts";
import { heldPlaceLifeMs, keepPlaces } from "./renew-permits.ts";

/** A webhook's way out of this process: what it delivers waits here for one of the webhook's places. */
interface Lane {
  /** Names of places that are ours and free. */
  free: string[];
  /** Ours, in use or free: since when, and since when the present attempt. */
  held: Map<string, { since: number; begunAt: number }>;
  waiting: { go: (place: string | null) => void; since: number }[];
  isAsking: boolean;
  timer: NodeJS.Timeout | undefined;
  /** How long the endpoint takes to answer, the last times weighing most. */
  answerMs: number;
}

export interface Lanes {
  /** A place at this webhook, or null when none will be free soon: then the delivery should not wait here. */
  enter(webhook: Webhook): Promise<string | null>;
  leave(webhook: Webhook, place: string): void;
  /** Gives back all places, also those that are in use: the process ends. */
  close(): Promise<void>;
}

/** Who would wait longer goes to the webhook's line in Redis, where waiting holds no job. */
const PATIENCE_MS = 1000;
/** An endpoint that answers within this is quick: its lane moves, so that waiting in it may take longer. */
const SLOW_MS = 250;
const QUICK_PATIENCE_MS = 5000;
/** Held longer, a place goes back in between, so that other processes and those in line get their turn. */
const HOLD_MS = 1000;
/** Between two questions for places that were refused. */
const ASK_AGAIN_MS = 50;
/** A free place is kept this long for what may come next. */
const LINGER_MS = 100;

/** Opens the lanes of one process; `name` tells its places from those of others. */
export function openLanes(platform: PlacePlatform, name: string): Lanes {
  const lanes = new Map<string, Lane>();
  let places = 0;
  const endKeeping = keepPlaces(platform, () => [...lanes].map(([id, { held }]) => [id, [...held.keys()]]));

  const laneOf = (webhookId: string): Lane => {
    let lane = lanes.get(webhookId);
    if (!lane) {
      lane = {
        free: [],
        held: new Map(),
        waiting: [],
        isAsking: false,
        timer: undefined,
        answerMs: 0,
      };
      lanes.set(webhookId, lane);
    }
    return lane;
  };

  const look = (webhook: Webhook, lane: Lane, inMs: number) => {
    lane.timer ??= setTimeout(() => {
      lane.timer = undefined;
      void tend(webhook, lane);
    }, inMs);
  };

  /** Gives places to those who wait, asks for more, sends away who waits in vain, gives back what is not needed. */
  async function tend(webhook: Webhook, lane: Lane): Promise<void> {
    const most = placesOf(platform, webhook);
    pair(lane);
    if (lane.waiting.length > 0) await ask(webhook, lane, most);
    const now = performance.now();
    const patienceMs = lane.held.size > 0 && answersWithin(lane) <= SLOW_MS ? QUICK_PATIENCE_MS : PATIENCE_MS;
    while (lane.waiting[0] && now - lane.waiting[0].since > patienceMs) lane.waiting.shift()?.go(null);
    if (lane.waiting.length > 0) return look(webhook, lane, ASK_AGAIN_MS);
    if (lane.free.length > 0) await giveBack(webhook, lane, lane.free.splice(0));
    if (lane.held.size === 0 && lane.waiting.length === 0 && !lane.isAsking) lanes.delete(webhook._id);
  }

  async function ask(webhook: Webhook, lane: Lane, most: number): Promise<void> {
    const wanted = Math.min(lane.waiting.length, most - lane.held.size);
    if (lane.isAsking || wanted <= 0) return;
    lane.isAsking = true;
    const names = Array.from({ length: wanted }, () => `${name}-${++places}`);
    try {
      const taken = await platform.places.take(webhook._id, names, most, heldPlaceLifeMs(platform));
      for (const place of names.slice(0, taken)) {
        lane.held.set(place, { since: performance.now(), begunAt: performance.now() });
        lane.free.push(place);
      }
    } catch {
      // Redis is away: who waits finds no place, and its job is done again.
    } finally {
      lane.isAsking = false;
    }
    pair(lane);
  }

  async function giveBack(webhook: Webhook, lane: Lane, names: string[]): Promise<void> {
    for (const place of names) lane.held.delete(place);
    // Should it fail, the places are free again when their time is over.
    await leavePlaces(platform, webhook._id, names, webhook).catch(() => undefined);
  }

  return {
    enter(webhook) {
      const lane = laneOf(webhook._id);
      if (lane.waiting.length === 0 && lane.free.length > 0) return Promise.resolve(use(lane));
      if (isJammed(lane, webhook)) return Promise.resolve(null);
      return new Promise(go => {
        lane.waiting.push({ go, since: performance.now() });
        if (lane.held.size < placesOf(platform, webhook) && !lane.isAsking) void tend(webhook, lane);
        else look(webhook, lane, ASK_AGAIN_MS);
      });
    },
    leave(webhook, place) {
      const lane = laneOf(webhook._id);
      const now = performance.now();
      const { since = 0, begunAt = now } = lane.held.get(place) ?? {};
      lane.answerMs += (now - begunAt - lane.answerMs) / 8;
      const isFailing = webhook.failing_since_ms !== null;
      if (isFailing || now - since > HOLD_MS) {
        void giveBack(webhook, lane, [place]).then(() => tend(webhook, lane));
        return;
      }
      lane.free.push(place);
      if (lane.waiting.length > 0) pair(lane);
      else look(webhook, lane, LINGER_MS);
    },
    async close() {
      endKeeping();
      // One of those in line is called in where no place is held any more: it calls in the next ones.
      const one = { ...UNLIMITED, max_in_flight: 1 };
      for (const [id, { held }] of lanes) await leavePlaces(platform, id, [...held.keys()], one);
    },
  };
}

function pair(lane: Lane): void {
  while (lane.waiting.length > 0 && lane.free.length > 0) lane.waiting.shift()?.go(use(lane));
}

/** Begins an attempt at a free place. */
function use(lane: Lane): string {
  const place = lane.free.shift() as string;
  const held = lane.held.get(place);
  if (held) held.begunAt = performance.now();
  return place;
}

/**
 * True when the endpoint is slow, and one more would wait for longer than the patience. A quick endpoint with much to
 * take is no reason to send anybody away: the wait is ours then.
 */
function isJammed(lane: Lane, webhook: Webhook): boolean {
  const { waiting, held } = lane;
  if (waiting.length === 0) return false;
  if (webhook.failing_since_ms !== null) return true;
  const oldestMs = performance.now() - (waiting[0]?.since ?? 0);
  const answerMs = answersWithin(lane);
  const expectedMs = (answerMs * waiting.length) / Math.max(1, held.size);
  return oldestMs > QUICK_PATIENCE_MS || (answerMs > SLOW_MS && expectedMs > PATIENCE_MS);
}

/** How long the endpoint takes, by the answers that came and those that are still to come. Milliseconds. */
function answersWithin({ held, free, answerMs }: Lane): number {
  const now = performance.now();
  let ms = answerMs;
  for (const [place, { begunAt }] of held) if (!free.includes(place)) ms = Math.max(ms, now - begunAt);
  return ms;
}

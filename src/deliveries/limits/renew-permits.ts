import type { PlacePlatform } from "./permits.ts";

/** A process's places at one webhook. */
type Held = [webhookId: string, names: string[]];

/**
 * How long a place outlives the process that holds it. A killed one held them all where there was much to deliver, and
 * until they are free nothing goes to that webhook; a living one says in time that it still needs them. Milliseconds.
 */
export const heldPlaceLifeMs = (platform: PlacePlatform) => platform.config.stalledAfterMs * 2;

/** Keeps what `held` answers from running out; ended by the function it answers. */
export function keepPlaces(platform: PlacePlatform, held: () => Held[]): () => void {
  const lifeMs = heldPlaceLifeMs(platform);
  const keep = async () => {
    for (const [webhookId, names] of held()) {
      // With Redis away nobody else is given them either, and those that ran out meanwhile are asked for anew.
      if (names.length > 0) await platform.places.keep(webhookId, names, lifeMs).catch(() => undefined);
    }
  };
  const timer = setInterval(() => void keep(), lifeMs / 4);
  timer.unref();
  return () => clearInterval(timer);
}

import { findAccounts } from "../accounts/organizations.ts";
import { isAccountId } from "../alerts/raise.ts";
import { type Source, Sources } from "../models/source.ts";
import { Workflows } from "../models/workflow.ts";
import type { Stores } from "../platform.ts";
import type { Emitter } from "../subscriptions/match.ts";

/** Returns the source or workflow with this id, or the account, which emits alerts; null if there is none. */
export async function findEmitter(platform: Stores, emitterId: string): Promise<Emitter | null> {
  return (await find(platform, [emitterId])).get(emitterId) ?? null;
}

/** Returns the emitters that exist, by id; cached ones are not looked up. */
export function findEmitters(platform: Stores, emitterIds: string[]): Promise<Map<string, Emitter>> {
  return platform.routing.lookUp(
    "emitter",
    emitterIds,
    missing => find(platform, missing),
    ({ owner_id }) => [owner_id],
  );
}

async function find(platform: Stores, emitterIds: string[]): Promise<Map<string, Emitter>> {
  const workflows = emitterIds.filter(id => id.startsWith("p_"));
  const accounts = emitterIds.filter(isAccountId);
  const sources = emitterIds.filter(id => !id.startsWith("p_") && !isAccountId(id));
  const rows: { _id: string; owner_id: string; state?: Source["state"] }[] = (
    await Promise.all([
      accounts.length > 0 ? findAccounts(platform, accounts) : [],
      workflows.length > 0
        ? Workflows(platform.mongo)
            .find({ _id: { $in: workflows } }, { owner_id: 1 })
            .lean()
        : [],
      sources.length > 0
        ? Sources(platform.mongo)
            .find({ _id: { $in: sources } }, { owner_id: 1, state: 1 })
            .lean()
        : [],
    ])
  ).flat();
  return new Map(
    rows.map(({ _id, owner_id, state = "ready" }) => [
      _id,
      { id: _id, owner_id, ...(state !== "ready" && { isHidden: true as const }) },
    ]),
  );
}

import { createHash } from "node:crypto";
import { checkQuota } from "../../accounts/check-quota.ts";
import { countRuns } from "../../accounts/usage.ts";
import type { ConnectDeps } from "../../connections/connect-props.ts";
import { FairSlots } from "../../lib/fair-slots.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Platform } from "../../platform.ts";
import type { Bundle } from "../../sandbox/bundle.ts";
import { bundleComponent } from "../bundle.ts";
import { type DescribedComponent, describeComponent } from "../describe.ts";
import { fromCode } from "../load-modules.ts";

export type TrialDeps = ConnectDeps & Pick<Platform, "config" | "sandboxes">;

/** Code that is described or tried now. None waits here: what is heavy about it waits for slots of its own. */
const trials = new FairSlots({
  total: LIMITS.trials.value,
  perAccount: LIMITS.trialsPerAccount.value,
  waitingPerAccount: 0,
  waiting: 0,
  what: "components are being tried",
});

/** Does `work` in one of the account's slots. Throws `rate-limited`, or `unavailable`, if there is none. */
export const inTrial = <T>(ownerId: string, work: () => Promise<T>): Promise<T> => trials.run(ownerId, work);

export interface Built {
  bundle: Bundle;
  description: DescribedComponent;
  /** Pinned versions by the text of the import. */
  packages: Record<string, string>;
}

/**
 * Bundles and describes code as `saveComponent` does, and stores nothing. Its compute time counts against the account's
 * quota. Throws `invalid` for code that can't be saved, `rate-limited` and `unavailable`.
 */
export async function buildTrial(platform: TrialDeps, ownerId: string, code: string): Promise<Built> {
  await checkQuota(platform, ownerId);
  const bundled = await bundleComponent(fromCode(code), { ...platform.config, account: ownerId });
  const bundle = { code: bundled.code, hash: createHash("sha256").update(bundled.code).digest("hex") };
  const description = await describeComponent(await platform.sandboxes(), bundle, {
    owner: ownerId,
    onEnded: ms => void countRuns(platform, ownerId, 0, ms).catch(() => undefined),
  });
  return { bundle, description, packages: bundled.packages };
}

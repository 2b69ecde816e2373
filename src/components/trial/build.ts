import { checkQuota } from "../../accounts/check-quota.ts";
import { countRuns } from "../../accounts/usage.ts";
import type { ConnectDeps } from "../../connections/connect-props.ts";
import { Slots } from "../../fairness/slots.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Platform } from "../../platform.ts";
import type { Bundle } from "../../sandbox/bundle.ts";
import { withBuilt } from "../builder/with-built.ts";
import { type DescribedComponent, describeComponent } from "../describe.ts";
import type { ModuleLoader } from "../load-modules.ts";

export type TrialDeps = ConnectDeps & Pick<Platform, "config" | "egress" | "sandboxes">;

/** Code that is described or tried now. None waits here: what is heavy about it waits for slots of its own. */
const trials = new Slots({
  total: LIMITS.trials.value,
  perAccount: LIMITS.trialsPerAccount.value,
  waitingPerAccount: 0,
  waiting: 0,
  what: "components are being tried",
});

/** Does `work` in one of the account's slots. Throws `rate-limited`, or `unavailable`, if there is none. */
export const inTrial = <T>(ownerId: string, work: () => Promise<T>): Promise<T> => trials.run(ownerId, work);

export interface TrialBuild {
  bundle: Bundle;
  description: DescribedComponent;
  /** Pinned versions by the text of the import. */
  packages: Record<string, string>;
}

/**
 * Bundles and describes code as `saveComponent` does, and stores nothing; the bundle exists until `use` has ended. Its compute
 * time counts against the account's quota. Throws `invalid` for code that can't be saved, `rate-limited` and `unavailable`.
 */
export async function withTrialBuild<T>(
  platform: TrialDeps,
  ownerId: string,
  loader: ModuleLoader,
  use: (built: TrialBuild) => Promise<T>,
): Promise<T> {
  await checkQuota(platform, ownerId);
  const options = { ...platform.config, account: ownerId };
  const used = await withBuilt(loader, options, async ({ bundle, packages }) => {
    const description = await describeComponent(await platform.sandboxes(), bundle, {
      owner: ownerId,
      onEnded: ms => void countRuns(platform, ownerId, 0, ms).catch(() => undefined),
    });
    return { result: await use({ bundle, description, packages }) };
  });
  // Without `goesOn` there is always a result.
  return (used as { result: T }).result;
}

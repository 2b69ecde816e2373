import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { orgId } from "../lib/shown-account";
import { me } from "./session";

/**
 * Shows a thing that was opened by its address in the account that owns it: what a screen lists, makes and runs beside it
 * (names, connections, trials) is that account's then.
 */
export function useOwnAccount(thing: { org_id?: string } | undefined): void {
  const { path, query, route } = useLocation();
  const owner = thing && (thing.org_id ?? null);
  const shown = orgId.value;
  // Who joined an organization elsewhere has not got it here yet.
  const isKnown = owner === null || me.value?.orgs.some(({ id }) => id === owner) === true;
  useEffect(() => {
    if (owner === undefined || owner === shown || !isKnown) return;
    const { org: _, ...rest } = query;
    const search = new URLSearchParams({ ...rest, ...(owner !== null && { org: owner }) }).toString();
    route(`${path}${search && `?${search}`}`, true);
  }, [owner, shown, isKnown]);
}

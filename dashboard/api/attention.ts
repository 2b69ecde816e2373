import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { orgId } from "../lib/shown-account";
import { type CallOptions, headwater, type Schemas } from "./client";
import { useFresh } from "./fresh";
import { useResource } from "./resource";

/** How many things of the shown account need somebody, for the navigation. */
export const needs = signal(0);
/** Screens that read it all, and so keep the number: nothing else asks for it then. */
let keepers = 0;

/** Each process counts its failures once a second. */
const PACE = { everyMs: 2000, behindMs: 2500 };

const read = (org: string | null, call?: CallOptions): PromiseLike<Schemas["Attention"]> =>
  headwater.request("get", "/attention", { query: org === null ? {} : { org_id: org } }, call);

/** What needs somebody of the shown account, as it is now. */
export function useAttention() {
  const org = orgId.value;
  const resource = useResource(call => read(org, call), [org]);
  useFresh(resource, { on: ["deliveries", "runs"], pace: PACE });
  const { data } = resource;
  useEffect(() => {
    keepers += 1;
    return () => {
      keepers -= 1;
    };
  }, []);
  useEffect(() => {
    if (data) needs.value = data.needs.total;
  }, [data]);
  return resource;
}

const LOOK_MS = 60_000;

/** Keeps the number in the navigation, on screens that don't show what it counts. */
export function useNeeds(): void {
  const org = orgId.value;
  useEffect(() => {
    const look = () => {
      if (document.hidden || keepers > 0) return;
      read(org, { maxRetries: 0 }).then(
        attention => {
          if (orgId.value === org) needs.value = attention.needs.total;
        },
        () => undefined,
      );
    };
    needs.value = 0;
    look();
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, [org]);
}

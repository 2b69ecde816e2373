import { computed, signal } from "@preact/signals";
import { orgId } from "../lib/shown-account";
import { clientOf, headwater, isSignedOut, type Schemas } from "./client";

/** The signed-in user; null until it is known. */
export const me = signal<Schemas["CurrentUser"] | null>(null);

/** The shown organization; undefined until it is known, for one of others, and in the own account. */
export const shownOrg = computed(() => me.value?.orgs.find(one => one.id === orgId.value));
export const orgName = computed(() => shownOrg.value?.name);

/** Whether the user only views the shown organization. */
export const isViewer = computed(() => shownOrg.value?.role === "viewer");

const MARK = "headwater-signed-in";
const WITH_ORGS = "with-orgs";

/** Whether this browser signed in before: no request is needed to know that one that never did is signed out. */
export const mayBeSignedIn = (): boolean => localStorage.getItem(MARK) !== null;

/** Whether the user had organizations when this browser read that last. */
export const hadOrgs = (): boolean => localStorage.getItem(MARK) === WITH_ORGS;

/** Notes that the browser leaves to sign in, and is probably signed in when it returns. */
export const expectReturn = (): void => localStorage.setItem(MARK, "1");

/** Forgets who was signed in; the sign-in page is shown. */
export function leave(): void {
  localStorage.removeItem(MARK);
  me.value = null;
  isSignedOut.value = true;
}

const SIGN_OUT_STATE = "headwater-sign-out";

/** Signs out here, and then with the OpenID provider if the session began there. Throws ApiError. */
export async function signOutEverywhere(): Promise<void> {
  const { url } = await headwater.request("post", "/openid_sign_outs", {});
  leave();
  if (url === null) return;
  sessionStorage.setItem(SIGN_OUT_STATE, new URL(url).searchParams.get("state") ?? "");
  location.assign(url);
}

/** Whether the provider sent this tab back with the state of its sign-out; true once. */
export function hasSignedOut(state: string | null): boolean {
  // The sign-in page is also shown for a moment on the way to the provider.
  if (state === null) return false;
  const wanted = sessionStorage.getItem(SIGN_OUT_STATE);
  sessionStorage.removeItem(SIGN_OUT_STATE);
  return Boolean(wanted) && state === wanted;
}

/** Reads who is signed in. Throws ApiError; a 401 shows the sign-in page. */
export async function loadMe(): Promise<void> {
  me.value = await headwater.me();
  localStorage.setItem(MARK, me.value.orgs.length > 0 ? WITH_ORGS : "1");
  isSignedOut.value = false;
}

const ofAccount = computed(() => clientOf(orgId.value));

/** The client whose lists, and whose new things, are those of the shown account. */
export const inAccount = () => ofAccount.value;

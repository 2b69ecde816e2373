import { AppError } from "../../lib/errors.ts";
import { UsageError } from "../input.ts";
import type { Profile, Profiles } from "./profiles.ts";

/** A running Headwater, and an API key for it. */
export interface Access {
  url: string;
  apiKey: string;
  /** The profile they are from; null for one without. */
  profile: string | null;
  orgId?: string;
}

/** What a command was given: by its options, and by the environment. */
export interface Choice {
  option: Given;
  environment: Given;
  orgId?: string | undefined;
}

interface Given {
  url?: string | undefined;
  key?: string | undefined;
  profile?: string | undefined;
}

/** This project's `npm start`, if there is one. */
export interface DevelopmentStart {
  url?: string | undefined;
  apiKey?: string | undefined;
}

/** Returns the URL of a server without a trailing slash and `/v1`. */
export const baseUrlOf = (url: string): string => url.replace(/\/+$/, "").replace(/\/v1$/, "");

/** Throws AppError `invalid` naming `field` for what is not an http or https URL. */
export function checkServerUrl(url: string, field: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    throw new UsageError(`${field}: ${url} is not an http or https URL`);
  }
  if (parsed.username || parsed.password) {
    throw new UsageError(`${field}: must have no credentials; give the API key as HEADWATER_API_KEY`);
  }
  return baseUrlOf(url);
}

/**
 * Returns which server to use and with which key. Options come before the environment, that before the current profile,
 * and that before `start`. The key of a profile, or of `start`, is sent only to its own server. Throws AppError `invalid`
 * that says what to do if something is missing.
 */
export function accessOf(choice: Choice, profiles: Profiles, start: DevelopmentStart): Access {
  const { option, environment } = choice;
  const url = option.url ?? environment.url;
  const key = option.key ?? environment.key;
  const named = option.profile ?? (url === undefined ? environment.profile : undefined);
  const orgId = choice.orgId === undefined ? {} : { orgId: choice.orgId };
  if (option.profile !== undefined && (option.url !== undefined || option.key !== undefined)) {
    throw new UsageError("--profile: can't be combined with --url and --key, which it has");
  }
  if (named !== undefined) return { ...accessOfProfile(profiles, named), ...orgId };
  if (url === undefined) return { ...currentAccess(choice, profiles, start), ...orgId };
  const base = checkServerUrl(url, option.url === undefined ? "HEADWATER_URL" : "--url");
  const own = key === undefined ? accessAt(base, profiles, start) : { url: base, apiKey: key, profile: null };
  return { ...own, ...orgId };
}

/** Without an address: the current profile, or `start`. */
function currentAccess({ option, environment }: Choice, profiles: Profiles, start: DevelopmentStart): Access {
  const key = option.key ?? environment.key;
  if (profiles.current === null) return accessOfStart({ ...start, apiKey: key ?? start.apiKey });
  const access = accessOfProfile(profiles, profiles.current);
  if (option.key !== undefined) return { ...access, apiKey: option.key, profile: null };
  if (environment.key === undefined) return access;
  // It may be the key of another server than that of the profile.
  throw new AppError("invalid", "HEADWATER_API_KEY: set HEADWATER_URL too, or name a profile with --profile");
}

function accessOfProfile({ byName }: Profiles, name: string): Access {
  const profile = byName.get(name);
  if (!profile) {
    const names = [...byName.keys()].join(", ");
    const known = names === "" ? "there is none" : `there are ${names}`;
    throw new UsageError(`--profile: there is no ${name}; ${known}. Run headwater login`);
  }
  return accessIn(name, profile);
}

const accessIn = (name: string, { url, api_key, org_id }: Profile): Access => ({
  url,
  apiKey: api_key,
  profile: name,
  ...(org_id !== undefined && { orgId: org_id }),
});

function accessOfStart({ url, apiKey }: DevelopmentStart): Access {
  if (!url) throw new AppError("invalid", "no server: run headwater login URL, or set HEADWATER_URL");
  if (!apiKey) throw noKey();
  return { url: baseUrlOf(url), apiKey, profile: null };
}

/** The key that is kept for a server: of a profile, the current one first, or of this project's start. */
function accessAt(url: string, { current, byName }: Profiles, start: DevelopmentStart): Access {
  const isThere = ([, profile]: [string, Profile]) => baseUrlOf(profile.url) === url;
  const found = [...byName].filter(isThere).sort(([name]) => (name === current ? -1 : 0))[0];
  if (found) return accessIn(...found);
  if (start.url && baseUrlOf(start.url) === url) return accessOfStart(start);
  throw noKey();
}

const noKey = () =>
  new AppError("invalid", "no API key: run headwater login, or set it with --key or HEADWATER_API_KEY");

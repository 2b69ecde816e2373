import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../lib/errors.ts";
import { UsageError } from "../input.ts";

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

/** A server, and the key of one of its users. */
export interface Profile {
  url: string;
  api_key: string;
  /** The key's id if `headwater login` made the key; `headwater logout` revokes it. */
  key_id?: string;
  /** The organization whose things are listed and created; without one, the user's own. */
  org_id?: string;
}

/** What `headwater login` keeps. */
export interface Profiles {
  /** The profile that is used if none is named; null without one. */
  current: string | null;
  byName: Map<string, Profile>;
}

/** The name of a profile: it is typed in a shell. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** Some thousand profiles. */
const MAX_BYTES = 1024 * 1024;

const fileIn = (folder: string) => join(folder, "profiles.json");

/** Throws UsageError unless `name` may be the name of a profile. */
export function checkProfileName(name: string): string {
  if (NAME.test(name)) return name;
  throw new UsageError("--profile: must be 1 to 64 letters, digits, dots, dashes or underscores");
}

/**
 * Reads the profiles in a folder; none if there is no file. Throws AppError `invalid` naming the file if other users of
 * this machine may read it, because it contains API keys, or if it is not what `headwater login` writes.
 */
export async function readProfiles(folder: string): Promise<Profiles> {
  const file = fileIn(folder);
  const found = await stat(file).catch(error => missing(error, file));
  if (!found) return { current: null, byName: new Map() };
  if (process.platform !== "win32" && (found.mode & 0o077) !== 0) {
    throw new AppError(
      "invalid",
      `${file} contains API keys and may be read by others: run chmod 600 ${file}`,
    );
  }
  if (found.size > MAX_BYTES) throw new AppError("invalid", `${file} is larger than 1 MB`);
  return parseProfiles(await readFile(file, "utf8"), file);
}

function missing(error: NodeJS.ErrnoException, file: string): null {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
  throw new AppError("invalid", `${file} can't be read: ${error.message}`, { cause: error });
}

function parseProfiles(text: string, file: string): Profiles {
  const broken = new AppError("invalid", `${file} is damaged: delete it, and run headwater login`);
  let json: { current?: unknown; profiles?: unknown };
  try {
    json = JSON.parse(text);
  } catch {
    throw broken;
  }
  const entries = Object.entries(json?.profiles ?? {});
  if (!entries.every(([name, profile]) => NAME.test(name) && isProfile(profile))) throw broken;
  const byName = new Map(entries as [string, Profile][]);
  const { current } = json;
  return { current: typeof current === "string" && byName.has(current) ? current : null, byName };
}

function isProfile(value: unknown): value is Profile {
  const { url, api_key, key_id = "", org_id = "" } = (value ?? {}) as Record<string, unknown>;
  return [url, api_key, key_id, org_id].every(field => typeof field === "string");
}

/** Writes the profiles, readable by the user only, whole or not at all. Throws AppError `invalid` naming the file. */
export async function writeProfiles(folder: string, { current, byName }: Profiles): Promise<void> {
  const file = fileIn(folder);
  const fresh = `${file}.${process.pid}`;
  const text = `${JSON.stringify({ current, profiles: Object.fromEntries(byName) }, null, 2)}\n`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // A file that a crashed process left may have other rights, which writing does not change.
    await rm(fresh, { force: true });
    await writeFile(fresh, text, { mode: 0o600, flag: "wx" });
    await chmod(fresh, 0o600);
    await rename(fresh, file);
  } catch (error) {
    await rm(fresh, { force: true }).catch(() => undefined);
    throw new AppError("invalid", `${file} can't be written: ${(error as Error).message}`, { cause: error });
  }
}

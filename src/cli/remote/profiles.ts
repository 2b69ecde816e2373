import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../lib/errors.ts";
import { UsageError } from "../input.ts";

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

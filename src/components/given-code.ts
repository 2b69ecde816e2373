import { checkUrlText } from "../egress/check-url.ts";
import { AppError, invalidField } from "../lib/errors.ts";
import type { Platform } from "../platform.ts";
import { fromUrl } from "./fetch-modules.ts";
import { fromFiles } from "./given-files.ts";
import { fromCode, type ModuleLoader } from "./load-modules.ts";
import type { GivenFiles } from "./read-files.ts";

/** The fields of a request that have the code of a component, in the order in which they count. */
export const CODE_SOURCES = ["component_code", "files", "component_url"] as const;

/** The code of a component, as a request has it: the text of one file, several files, or their address. */
export interface GivenCode {
  component_code?: string | undefined;
  files?: Record<string, string> | undefined;
  /** Of `files`. */
  entry?: string | undefined;
  component_url?: string | undefined;
}

/** Returns a loader for the code of a request. Throws AppError `invalid` that names the field. */
export function loaderOf(
  { egress }: Pick<Platform, "egress">,
  { component_code: code, files, entry, component_url: url }: GivenCode,
): ModuleLoader {
  if (url !== undefined) checkUrlText(url, { in: "body", path: "component_url" });
  if (entry !== undefined && files === undefined) throw invalidField("body", "entry", "belongs to files");
  if (files !== undefined && entry === undefined)
    throw invalidField("body", "entry", "is required with files");
  if (code !== undefined) return fromCode(code);
  if (files !== undefined && entry !== undefined) return fromFiles({ files, entry });
  if (url !== undefined) return fromUrl(url, egress);
  throw new AppError("invalid", `one of ${CODE_SOURCES.join(", ")} is required`, {
    fields: CODE_SOURCES.map(path => ({ in: "body" as const, path, message: "one of these is required" })),
  });
}

/** Returns the files that messages about the code may name; null if it is one file. */
export function namedFiles(loader: ModuleLoader, { files, entry }: GivenCode): GivenFiles | null {
  const isGiven = loader.field.path === "files" && files !== undefined && entry !== undefined;
  return isGiven ? { files, entry } : (loader.files?.() ?? null);
}

import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, extname, join, relative } from "node:path";
import { AppError } from "../../lib/errors.ts";
import { isUrl } from "../input.ts";
import { EXTENSIONS, findComponents } from "./find-components.ts";
import { findProject } from "./find-project.ts";

/** A component to examine: its address, or its file below the folder of its project. */
export type Entry = { at: string } & (
  | { url: string }
  | {
      /** Its path below the folder that was named. */
      below: string;
      file: string;
      project: string;
    }
);

const MOST_LIST_BYTES = 10 * 1024 * 1024;
const MOST_COMPONENTS = 20_000;
const MOST_URL_CHARACTERS = 2000;

/**
 * Returns the components that the words of a command line mean, each once: an address, a component's file, a folder, or a file
 * that lists addresses. Throws AppError `invalid` that names the word.
 */
export async function readInputs(words: readonly string[]): Promise<Entry[]> {
  const entries = new Map<string, Entry>();
  for (const word of words) {
    const found = isUrl(word) ? [{ at: word, url: checkUrl(word, word) }] : await readPath(word);
    for (const entry of found) entries.set("url" in entry ? entry.url : entry.file, entry);
    if (entries.size > MOST_COMPONENTS) {
      throw new AppError("invalid", `more than ${MOST_COMPONENTS} components: examine them in parts`);
    }
  }
  return [...entries.values()];
}

async function readPath(word: string): Promise<Entry[]> {
  const path = await realpath(word).catch(() => {
    throw new AppError(
      "invalid",
      `${word}: there is neither a folder nor a file of this name, nor is it an http or https URL`,
    );
  });
  const found = await stat(path);
  if (found.isDirectory()) return await entriesBelow(path, word);
  if (EXTENSIONS.includes(extname(path))) return entriesOf([path], dirname(path), dirname(word));
  if (found.size > MOST_LIST_BYTES) {
    throw new AppError(
      "invalid",
      `${word}: a list of addresses has at most ${MOST_LIST_BYTES / 1024 / 1024} MB`,
    );
  }
  return addressesIn(await readFile(path, "utf8"), word);
}

async function entriesBelow(folder: string, word: string): Promise<Entry[]> {
  const files = await findComponents(folder);
  if (files.length > 0) return entriesOf(files, folder, word);
  const wanted = "a file with a default export, a name and a version";
  throw new AppError("invalid", `${word}: there is no component below this folder (${wanted})`);
}

function entriesOf(files: string[], folder: string, word: string): Entry[] {
  const project = findProject(folder);
  return files.map(file => {
    const below = relative(folder, file);
    return { at: join(word, below), below, file, project };
  });
}

/** One address a line; empty lines and those that begin with `#` say nothing. */
function addressesIn(text: string, word: string): Entry[] {
  const entries = text.split("\n").flatMap((line, index): Entry[] => {
    const url = line.trim();
    if (url === "" || url.startsWith("#")) return [];
    return [{ at: url, url: checkUrl(url, `${word}, line ${index + 1}`) }];
  });
  if (entries.length > 0) return entries;
  throw new AppError("invalid", `${word}: lists no addresses; it must have one http or https URL a line`);
}

function checkUrl(url: string, place: string): string {
  if (isUrl(url) && URL.canParse(url) && url.length <= MOST_URL_CHARACTERS) return url;
  throw new AppError(
    "invalid",
    `${place}: must be an http or https URL of at most ${MOST_URL_CHARACTERS} characters`,
  );
}

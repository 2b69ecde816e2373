import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir } from "node:os";
import { dirname, extname, join, relative, sep } from "node:path";
import { AppError } from "../../lib/errors.ts";
import { isUrl } from "../input.ts";

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

const EXTENSIONS = [".mjs", ".js", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"];
const NOT_COMPONENTS = /\.(?:app|d|test|spec|config)\.[cm]?[jt]sx?$/;
/** A server rejects larger ones, too. */
const MOST_BYTES = 1024 * 1024;
const MOST_ENTRIES = 500_000;

/** What every component's file has: a default export, a name and a version (docs/component-api.md#shape). */
const MARKS = [
  /\bexport\s+default\b|\bmodule\.exports\b|\bas\s+default\b/,
  /\bname["']?\s*[:,}]/,
  /\bversion["']?\s*[:,}]/,
];

/** Returns true for the text of a file that may be a component; that of a helper or an app lacks a version. */
export const looksLikeComponent = (text: string): boolean => MARKS.every(mark => mark.test(text));

/**
 * Returns the paths of the files below a folder that look like components, in order. Hidden folders, node_modules and links
 * are left out. Throws AppError `invalid` for a folder that can't be read or has too much in it.
 */
async function findComponents(folder: string): Promise<string[]> {
  const found: string[] = [];
  const folders = [folder];
  let entries = 0;
  for (let next = folders.shift(); next !== undefined; next = folders.shift()) {
    const current = next;
    const listed = await readdir(current, { withFileTypes: true }).catch((error: Error) => {
      throw new AppError("invalid", `${current} can't be read: ${error.message}`, { cause: error });
    });
    entries += listed.length;
    if (entries > MOST_ENTRIES) {
      throw new AppError("invalid", `${folder}: has more than ${MOST_ENTRIES} files; name a part of it`);
    }
    for (const entry of listed) {
      const path = join(current, entry.name);
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() && (await isComponent(path))) found.push(path);
    }
  }
  return found.sort();
}

async function isComponent(path: string): Promise<boolean> {
  if (!EXTENSIONS.includes(extname(path)) || NOT_COMPONENTS.test(path)) return false;
  const { size } = await stat(path);
  return size <= MOST_BYTES && looksLikeComponent(await readFile(path, "utf8"));
}

/** As far up as a package.json of a component is looked for (docs/component-api.md#imports). */
const MOST_FOLDERS = 12;

/**
 * Returns the folder that a folder's components may import files of: the checkout that it is in, else the npm package, else the
 * folder itself. It is never a home folder or the root.
 */
function findProject(folder: string): string {
  const above = foldersFrom(folder);
  const has = (name: string) => above.find(one => existsSync(join(one, name)));
  return has(".git") ?? has("package.json") ?? folder;
}

function foldersFrom(folder: string): string[] {
  const folders: string[] = [];
  const home = homedir();
  for (let one = folder; folders.length < MOST_FOLDERS; one = dirname(one)) {
    if (one === home || one === dirname(one)) break;
    folders.push(one);
  }
  return folders;
}

/** Serves the code of local components to a server on this machine. */
export interface FileServer {
  /** Returns the address of a file below a folder. */
  urlOf(project: string, file: string): string;
  /** Returns a text with the paths of files below their folder in place of their addresses. */
  withoutAddress(text: string): string;
  close(): Promise<void>;
}

const SERVED = [...EXTENSIONS, ".json"];
/** A server reads no more of a file. */
const MOST_SERVED_BYTES = 1024 * 1024 + 1;

/**
 * Starts an HTTP server on loopback that serves code and JSON below `projects`, and nothing hidden; `secret` is a part of
 * every address, so that no other program of this machine finds them.
 */
export async function serveFiles(projects: readonly string[], secret: string): Promise<FileServer> {
  const folders = [...new Set(projects)];
  const server = createServer((request, response) => {
    void readServed(request.url ?? "", { folders, secret })
      .catch(() => null)
      .then(text => {
        if (text === null) return response.writeHead(404).end();
        return response.writeHead(200, { "content-type": "text/plain; charset=utf-8" }).end(text);
      });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    urlOf(project, file) {
      const path = relative(project, file).split(sep).map(encodeURIComponent).join("/");
      return `${origin}/${secret}/${folders.indexOf(project)}/${path}`;
    },
    withoutAddress: text => text.replaceAll(new RegExp(`${origin}/${secret}/\\d+/`, "g"), ""),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function readServed(
  url: string,
  { folders, secret }: { folders: string[]; secret: string },
): Promise<Buffer | null> {
  const path = url.split("?", 1)[0] ?? "";
  const [, given, index = "", ...names] = path.split("/").map(decodeURIComponent);
  const folder = folders[Number(index)];
  if (given !== secret || folder === undefined || !names.every(isServed)) return null;
  const file = await realpath(join(folder, ...names));
  // A link may lead elsewhere.
  if (!file.startsWith(folder + sep) || !SERVED.includes(extname(file))) return null;
  const found = await stat(file);
  if (!found.isFile()) return null;
  return (await readFile(file)).subarray(0, MOST_SERVED_BYTES);
}

const isServed = (name: string): boolean =>
  name !== "" && !/^\.|[/\\\0]/.test(name) && name !== "node_modules";

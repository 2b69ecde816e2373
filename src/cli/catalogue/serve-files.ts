import { once } from "node:events";
import { readFile, realpath, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, relative, sep } from "node:path";
import { EXTENSIONS } from "./inputs.ts";

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
const MOST_BYTES = 1024 * 1024 + 1;

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
  return (await readFile(file)).subarray(0, MOST_BYTES);
}

const isServed = (name: string): boolean =>
  name !== "" && !/^\.|[/\\\0]/.test(name) && name !== "node_modules";

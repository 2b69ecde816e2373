import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../support/built.ts";

/** An editor's side of the compiler's language server (Language Server Protocol 3.17, over stdio). */
export interface LanguageServer {
  /** Returns what an editor shows when the pointer rests on the last place of `text` in the file, as Markdown. */
  hover(file: string, text: string): Promise<string>;
  close(): void;
}

interface Message {
  id?: number;
  method?: string;
  result?: { contents?: string | { value: string } } | null;
  error?: { message: string };
}

/** Starts the language server for the project in this folder. */
export async function openLanguageServer(folder: string): Promise<LanguageServer> {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const child = spawn(process.execPath, [compiler, "--lsp", "--stdio"], { cwd: folder });
  const waiting = new Map<number, (message: Message) => void>();
  const send = (message: object) => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  readMessages(child.stdout, message => {
    if (message.method !== undefined && message.id !== undefined) send({ id: message.id, result: null });
    else if (message.id !== undefined) waiting.get(message.id)?.(message);
  });
  child.once("exit", () => {
    for (const receive of waiting.values()) receive({ error: { message: "the language server ended" } });
  });
  let last = 0;
  const request = (method: string, params: object) =>
    new Promise<Message["result"]>((resolve, reject) => {
      const id = ++last;
      waiting.set(id, ({ result, error }) => (error ? reject(new Error(error.message)) : resolve(result)));
      send({ id, method, params });
    });
  await request("initialize", {
    processId: process.pid,
    rootUri: pathToFileURL(folder).href,
    capabilities: { textDocument: { hover: { contentFormat: ["markdown"] } } },
  });
  send({ method: "initialized", params: {} });
  const opened = new Set<string>();
  return {
    async hover(file, text) {
      const uri = pathToFileURL(join(folder, file)).href;
      const code = readFileSync(join(folder, file), "utf8");
      if (!opened.has(file)) {
        const textDocument = { uri, languageId: "typescript", version: 1, text: code };
        send({ method: "textDocument/didOpen", params: { textDocument } });
        opened.add(file);
      }
      const before = code.slice(0, code.lastIndexOf(text)).split("\n");
      const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
      const result = await request("textDocument/hover", { textDocument: { uri }, position });
      const contents = result?.contents ?? "";
      return typeof contents === "string" ? contents : contents.value;
    },
    close: () => void child.kill("SIGKILL"),
  };
}

function readMessages(stream: NodeJS.ReadableStream, onMessage: (message: Message) => void): void {
  let buffer = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (;;) {
      const end = buffer.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/Content-Length: (\d+)/i.exec(buffer.toString("latin1", 0, end))?.[1]);
      if (buffer.length < end + 4 + length) return;
      const body = buffer.toString("utf8", end + 4, end + 4 + length);
      buffer = buffer.subarray(end + 4 + length);
      onMessage(JSON.parse(body) as Message);
    }
  });
}

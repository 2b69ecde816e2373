import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseDocument } from "yaml";
import { Headwater, type Schemas } from "../../clients/typescript/src/index.ts";
import { createProgram } from "../../src/cli/program.ts";
import { publishGallery } from "../../src/gallery/publish-gallery.ts";
import { readShipped } from "../../src/gallery/shipped.ts";
import { keepEnvironment } from "../support/environment.ts";
import { type Received, type Receiver, startReceiver } from "../support/receiver.ts";
import { startSystem } from "../support/system.ts";
import { until } from "../support/until.ts";
import { blocksOf, namedFilesOf } from "./page-code.ts";

/** A page with a file for `headwater apply` and commands, whose files are written and whose commands can be run. */
export interface Recipe {
  /**
   * Runs the next shell block of the page, and returns what it printed. Each of its `export` lines takes the value of that name
   * from here, in place of the page's.
   */
  shell(variables?: Record<string, string>): Promise<string>;
}

/** A system with the gallery, one user, and what recipes need of the world outside. */
export interface Kitchen {
  client: Headwater;
  /** Opens a page of docs/. `apis` has the address of an imitation by the path of the source or action that asks a vendor's own. */
  open(name: string, apis?: Record<string, string>): Promise<Recipe>;
  /** Returns a run once it has ended. */
  runOf(id: string): Promise<Schemas["Run"]>;
  /** Starts a receiver that ends with the tests. */
  receiver(): Promise<Receiver>;
  stop(): Promise<void>;
}

export async function startKitchen(env: Record<string, string> = {}): Promise<Kitchen> {
  const restoreEnvironment = keepEnvironment();
  const [system, folder] = await Promise.all([
    startSystem({ SANDBOX_EGRESS_ALLOW: "127.0.0.1", ...env }),
    mkdtemp(join(tmpdir(), "headwater-recipes-")),
  ]);
  await publishGallery(system.web, await readShipped());
  const { apiKey } = await system.user({ plan: "paid" });
  const url = new URL(system.baseUrl).origin;
  // Without the profiles of the person who runs the tests.
  Object.assign(process.env, { HEADWATER_URL: url, HEADWATER_API_KEY: apiKey, XDG_CONFIG_HOME: folder });
  const client = new Headwater({ url, apiKey });
  const receivers: Receiver[] = [];
  return {
    client,
    runOf: id =>
      until(async () => {
        const run = await client.sources.getRun(id);
        return run.outcome && run;
      }),
    open: (name, apis) => openRecipe(folder, name, apis),
    async receiver() {
      const receiver = await startReceiver();
      receivers.push(receiver);
      return receiver;
    },
    async stop() {
      restoreEnvironment();
      await system.stop();
      await Promise.all(receivers.map(receiver => receiver.close()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the requests with which a receiver was sent as many events as expected. */
export async function received(receiver: Receiver, count = 1): Promise<Received[]> {
  const posts = () => receiver.requests.filter(({ method }) => method === "POST");
  await until(() => posts().length >= count, { what: `${count} requests` });
  return posts();
}

export const bodies = async (receiver: Receiver, count = 1): Promise<unknown[]> =>
  (await received(receiver, count)).map(({ raw }) => JSON.parse(raw));

async function openRecipe(folder: string, name: string, apis: Record<string, string> = {}): Promise<Recipe> {
  const page = name.endsWith(".md") ? name : `docs/${name}.md`;
  const own = await mkdtemp(join(folder, "page-"));
  const files = namedFilesOf(page);
  for (const [file, text] of files) {
    await writeFile(join(own, file), file === "headwater.yaml" ? withApis(text, apis) : text);
  }
  const blocks = blocksOf(page, "sh");
  return {
    async shell(variables = {}) {
      const block = blocks.shift();
      if (block === undefined) throw new Error(`${page} has no further shell block`);
      let printed = "";
      for (const line of block.trimEnd().split("\n")) {
        const [, exported] = /^export (\w+)=\S+$/.exec(line) ?? [];
        if (exported === undefined) {
          const words = wordsOf(line).map(word =>
            files.has(basename(word)) ? join(own, basename(word)) : word,
          );
          printed += await runHeadwater(line, words);
        } else if (variables[exported] === undefined) {
          throw new Error(`${page} needs ${exported}`);
        } else process.env[exported] = variables[exported];
      }
      return printed;
    },
  };
}

/** Adds to sources and actions the hidden prop that is the address of the vendor's API; without any, the text stays as it is. */
function withApis(text: string, apis: Record<string, string>): string {
  if (Object.keys(apis).length === 0) return text;
  const document = parseDocument(text);
  for (const [path, url] of Object.entries(apis)) document.setIn([...path.split("."), "props", "api"], url);
  return String(document);
}

/** Splits a line as a shell does: into words, with quotes of both kinds and variables; not within single quotes. */
function wordsOf(line: string): string[] {
  const parts = line.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g);
  const filled = (text: string) => text.replace(/\$(\w+)/g, (_, name) => process.env[name] ?? "");
  return [...parts].map(([, single, double, plain]) => single ?? filled(double ?? plain ?? ""));
}

/** Runs a command line in this process, and returns what it wrote to the standard output. A process for each would take longer than all else. */
async function runHeadwater(line: string, [program, ...args]: string[]): Promise<string> {
  if (program !== "headwater" && program !== "bin/headwater")
    throw new Error(`not a command of headwater: ${line}`);
  const { stdout, stderr } = process;
  const writes = [stdout.write, stderr.write] as const;
  let printed = "";
  stdout.write = (text: string | Uint8Array) => {
    printed += text;
    return true;
  };
  stderr.write = () => true;
  try {
    await createProgram().parseAsync(args, { from: "user" });
  } finally {
    [stdout.write, stderr.write] = writes;
  }
  return printed;
}

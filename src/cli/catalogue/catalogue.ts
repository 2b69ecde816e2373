import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { Headwater } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { isLoopback } from "../../lib/hosts.ts";
import { isUrl } from "../input.ts";
import { note, print, printJson } from "../output.ts";
import type { Access } from "../remote/access.ts";
import { clientFor, explain } from "../remote/remote-command.ts";
import { stopSignal } from "../run.ts";
import { type Candidate, examine } from "./examine.ts";
import { type Entry, type FileServer, readInputs, serveFiles } from "./inputs.ts";
import { listComponents, Removal } from "./remove.ts";
import { type Outcome, Progress, reportJson, reportText } from "./report.ts";
import { identityOf, State, TimeLimit } from "./state.ts";
import { type GivenProps, type MadeUp, readAccounts, readGivenProps } from "./values.ts";

export interface CatalogueOptions {
  props?: string;
  accounts?: string;
  atOnce: number;
  seconds: number;
  state?: string;
  fresh?: boolean;
  list?: boolean;
  keep?: boolean;
  json?: boolean;
  server?: string;
}

/**
 * Examines the components that the words name, prints what was found, and deletes what was made. Throws AppError for wrong
 * input, and when the server does not respond or allows no more; the same call then goes on.
 */
export async function catalogue(
  words: readonly string[],
  access: Access,
  options: CatalogueOptions,
  { statePath }: { statePath: (id: string) => Promise<string> },
): Promise<void> {
  const props = await readGivenProps(options.props);
  const madeUp = options.accounts === undefined ? null : await readAccounts(options.accounts);
  const entries = await readInputs(words);
  if (options.list) return print(entries.map(({ at }) => at).join("\n"));
  if (madeUp && options.server !== OWN_SERVER) throw new AppError("invalid", NOT_OWN);
  checkReach(entries, access);
  // What the server asks to wait for does not count as the component's time.
  const client = clientFor(access, { maxWaitMs: 0 });
  const of = identityOf([
    options.server ?? [access.url, access.orgId],
    words.map(word => (isUrl(word) ? word : resolve(word))),
    props.values,
    madeUp?.accounts,
  ]);
  const path = options.state ?? (await statePath(of.slice(0, 16)));
  const state = await openState(path, of, options, client);
  const files = await serveFiles(
    entries.flatMap(entry => ("project" in entry ? [entry.project] : [])),
    state.start.token,
  );
  try {
    await examineEntries(entries, { client, props, madeUp, state, files, options });
  } catch (error) {
    throw explain(error, access.url);
  } finally {
    await files.close();
  }
}

/** As `npm run catalogue` calls the server that it starts: components have no network there. */
const OWN_SERVER = "own";
const NOT_OWN =
  "--accounts: is for `npm run catalogue` with a server of its own: any other would send the made-up accounts to their vendors";

/** Another machine can't read the files of this one. */
function checkReach(entries: readonly Entry[], { url }: Access): void {
  const local = entries.find(entry => "file" in entry);
  if (local === undefined || isLoopback(new URL(url).hostname)) return;
  const remedy = "give addresses, or let `npm run catalogue` start a server of its own";
  throw new AppError("invalid", `${local.at}: ${url} is on another machine, which can't read it; ${remedy}`);
}

async function openState(path: string, of: string, { fresh, keep }: CatalogueOptions, client: Headwater) {
  const earlier = State.resume(path, of);
  if (earlier && !keep) await new Removal(client, earlier).finish(earlier);
  if (earlier && !fresh) {
    note(`Going on: ${earlier.outcomes.length} were examined before (--fresh begins again).`);
    return earlier;
  }
  const had: string[] = [];
  for await (const { id } of listComponents(client)) had.push(id);
  return State.begin(path, of, had);
}

interface Examination {
  client: Headwater;
  props: GivenProps;
  madeUp: MadeUp | null;
  state: State;
  files: FileServer;
  options: CatalogueOptions;
}

async function examineEntries(entries: readonly Entry[], examination: Examination): Promise<void> {
  const { client, state, options } = examination;
  const stop = new AbortController();
  stopSignal().addEventListener("abort", () => stop.abort(), { once: true });
  const hasStops = examination.madeUp !== null;
  const progress = new Progress(entries.length, hasStops);
  const removal = options.keep ? null : new Removal(client, state);
  const isDone = new Set(state.outcomes.map(({ at }) => at));
  const left = entries.filter(({ at }) => !isDone.has(at));
  note(`${left.length} components, ${options.atOnce} at once, ${options.seconds} s for each`);
  try {
    await examineAll(left, options.atOnce, stop, async entry => {
      const outcome = await examineEntry(entry, examination, { stop: stop.signal, progress, removal });
      progress.show(state.outcomes);
      return outcome;
    });
    await removal?.finish(state);
  } finally {
    progress.end();
  }
  const isNamed = new Set(entries.map(({ at }) => at));
  const outcomes = state.outcomes.filter(({ at }) => isNamed.has(at));
  if (options.json) printJson(reportJson(outcomes, entries.length, hasStops));
  else print(reportText(outcomes, entries.length, hasStops));
  if (outcomes.length < entries.length) {
    throw new AppError("invalid", `ended before all were examined; the same command goes on`);
  }
  state.finish();
  note(`Each of them: ${state.path}`);
}

async function examineEntry(
  entry: Entry,
  { client, props, madeUp, state, files, options }: Examination,
  { stop, progress, removal }: { stop: AbortSignal; progress: Progress; removal: Removal | null },
) {
  const candidate = candidateOf(entry, state, files);
  state.began(candidate.at, candidate.url);
  const outcome = await examine(candidate, {
    client,
    props,
    madeUp,
    time: new TimeLimit(options.seconds * 1000, stop, (until, why) => progress.waits(until, why)),
    remove: async made => removal?.remove(made),
    readable: files.withoutAddress,
  });
  state.done(outcome);
  return outcome;
}

function candidateOf(entry: Entry, { start }: State, files: FileServer): Candidate {
  const { at } = entry;
  const name = `${start.token}-${createHash("sha256").update(at).digest("hex").slice(0, 12)}`;
  if ("url" in entry) return { at, names: [at], url: entry.url, name };
  return { at, names: [at, entry.below], url: files.urlOf(entry.project, entry.file), name };
}

/**
 * Calls `work` for each entry, `atOnce` at a time, until all are done, `stop` aborts, or one call throws: then those under way
 * come to their end, and the error is thrown.
 */
async function examineAll<Entry>(
  entries: readonly Entry[],
  atOnce: number,
  stop: AbortController,
  work: (entry: Entry) => Promise<Outcome>,
): Promise<void> {
  const waiting = [...entries];
  const errors: unknown[] = [];
  const one = async () => {
    for (let next = waiting.shift(); next !== undefined && !stop.signal.aborted; next = waiting.shift()) {
      await work(next).catch(error => {
        if (!stop.signal.aborted) errors.push(error);
        stop.abort();
      });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  if (errors.length > 0) throw errors[0];
}

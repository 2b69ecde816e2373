import { setTimeout as delay } from "node:timers/promises";
import { ConflictError, type Headwater, NotFoundError } from "../../../clients/typescript/src/index.ts";
import { note, plain } from "../output.ts";
import type { Made } from "./examine.ts";
import { endsAll, type State } from "./state.ts";

/** A source that was deleted is gone when the run that is under way has ended, which `TIMEOUTS` bounds. */
const LONGEST_WAIT_MS = 330_000;
const LOOK_EVERY_MS = 500;

/** Deletes what examinations made, and nothing that the account had before. */
export class Removal {
  readonly #client: Headwater;
  readonly #had: ReadonlySet<string>;
  /** Components that are still to be deleted: a source may use them for a moment. */
  readonly #components = new Set<string>();

  constructor(client: Headwater, { start }: State) {
    this.#client = client;
    this.#had = new Set(start.had);
  }

  /** Deletes a source or action, and its component if that is possible already. Throws what ends the whole examination. */
  async remove({ component, source, action }: Made): Promise<void> {
    const { sources, destinations } = this.#client;
    if (source !== undefined) await removed(source, sources.delete(source));
    if (action !== undefined) await removed(action, destinations.delete(action));
    if (component !== undefined && !this.#had.has(component)) this.#components.add(component);
    await this.#removeComponents();
  }

  /** Deletes what is left when all have ended, also of examinations that were cut off: by names and addresses. */
  async finish({ start, urls }: State): Promise<void> {
    const isOurs = (name: string | null) => name?.startsWith(start.token);
    const { sources, destinations } = this.#client;
    for await (const { id, name } of sources.list()) if (isOurs(name)) await this.remove({ source: id });
    for await (const { id, name } of destinations.list()) if (isOurs(name)) await this.remove({ action: id });
    for await (const { id, component_url } of listComponents(this.#client)) {
      if (urls.has(component_url ?? "") && !this.#had.has(id)) this.#components.add(id);
    }
    await this.#removeComponents();
    const waitUntil = performance.now() + LONGEST_WAIT_MS;
    if (this.#components.size > 0) note("Waiting for the end of runs, to delete their components ...");
    while (this.#components.size > 0 && performance.now() < waitUntil) {
      await delay(LOOK_EVERY_MS);
      await this.#removeComponents();
    }
    if (this.#components.size > 0) note(`Still in use, and not deleted: ${[...this.#components].join(", ")}`);
  }

  async #removeComponents(): Promise<void> {
    for (const id of this.#components) {
      if (await removed(id, this.#client.components.delete(id))) this.#components.delete(id);
    }
  }
}

/** Returns false for what is still in use. Throws what ends the whole examination; other errors are printed. */
async function removed(id: string, deleting: Promise<unknown>): Promise<boolean> {
  try {
    await deleting;
  } catch (error) {
    if (error instanceof ConflictError) return false;
    if (endsAll(error)) throw error;
    if (!(error instanceof NotFoundError)) {
      note(`${id} could not be deleted: ${plain((error as Error).message)}`);
    }
  }
  return true;
}

/** Lists the account's components without their code. */
export async function* listComponents(client: Headwater) {
  for (let after: string | null | undefined; after !== null; ) {
    const query = { include: "id,component_url", limit: 100, ...(after !== undefined && { after }) };
    const page = await client.request("get", "/components", { query });
    yield* page.data;
    after = page.page_info.end_cursor;
  }
}

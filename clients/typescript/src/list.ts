import { HeadwaterError } from "./errors.ts";
import type { PageInfo } from "./schema.ts";

/** One page of a list. */
export interface Page<Row> {
  data: Row[];
  page_info: PageInfo;
}

/** Which page of a list. */
export interface Cursor {
  /** Page size, 1 to 100; 100 by default. */
  limit?: number;
  /** Only what is behind this cursor. */
  after?: string;
  /** Only the page just before this cursor. */
  before?: string;
}

/**
 * A list of the API, newest first. `for await` goes over all of its rows, page by page; `await` returns its first page.
 * Nothing is requested before either.
 */
export class List<Row> implements PromiseLike<Page<Row>>, AsyncIterable<Row> {
  readonly #read: (cursor: Cursor) => Promise<Page<Row>>;
  readonly #start: Cursor;
  #first: Promise<Page<Row>> | undefined;

  constructor(start: Cursor, read: (cursor: Cursor) => Promise<Page<Row>>) {
    this.#start = { ...start, limit: start.limit ?? 100 };
    this.#read = async cursor => checked(await read(cursor));
  }

  // biome-ignore lint/suspicious/noThenProperty: `await list` is its first page
  then<Kept = Page<Row>, Lost = never>(
    onPage?: ((page: Page<Row>) => Kept | PromiseLike<Kept>) | null,
    onError?: ((error: unknown) => Lost | PromiseLike<Lost>) | null,
  ): Promise<Kept | Lost> {
    return this.#readFirst().then(onPage, onError);
  }

  #readFirst(): Promise<Page<Row>> {
    this.#first ??= this.#read(this.#start);
    return this.#first;
  }

  /** Goes over the pages. A page may be empty while more follow: a list ends with the page that has no `end_cursor`. */
  async *pages(): AsyncGenerator<Page<Row>, void, undefined> {
    let page = await this.#readFirst();
    yield page;
    while (page.page_info.end_cursor !== null && this.#start.before === undefined) {
      const after: string = page.page_info.end_cursor;
      page = await this.#read({ ...this.#start, after });
      if (page.page_info.end_cursor === after) throw new HeadwaterError("the list does not advance");
      yield page;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }
}

/** Throws for what something else than a Headwater may respond. */
function checked<Row>(page: Page<Row>): Page<Row> {
  if (Array.isArray(page?.data) && typeof page.page_info === "object" && page.page_info !== null) return page;
  throw new HeadwaterError("the response is not a list: url must be the address of a Headwater");
}

import { AppError } from "../lib/errors.ts";

/** A connection that serves several uses at once and is kept between them. */
export interface Kept {
  isOpen(): boolean;
  close(): void;
}

interface Entry {
  version: string;
  opened: Promise<Kept>;
  /** Set once it is open. */
  connection?: Kept;
  uses: number;
  idle?: NodeJS.Timeout;
}

export interface ConnectionBounds {
  /** Connections that the process keeps open at once. */
  most: number;
  /** After how many milliseconds without a use one is closed. */
  idleMs: number;
}

/**
 * The connections of one process to destinations that are spoken to over a lasting one: one for each destination, closed
 * when it is idle, when its settings change, and when too many others are needed.
 */
export class LastingConnections {
  readonly #bounds: ConnectionBounds;
  /** By destination, the one unused for longest first. */
  readonly #entries = new Map<string, Entry>();
  #isClosed = false;

  constructor(bounds: ConnectionBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Does `work` with the connection of a destination, which is opened if there is none, or only one of another version of its
   * settings. Throws what `open` and `work` throw, and `unavailable` if as many others are in use as may be open.
   */
  async use<Connection extends Kept, Result>(
    { id, version }: { id: string; version: string },
    open: () => Promise<Connection>,
    work: (connection: Connection) => Promise<Result>,
  ): Promise<Result> {
    const entry = this.#entryOf(id, version, open);
    clearTimeout(entry.idle);
    entry.uses += 1;
    try {
      return await work((await entry.opened) as Connection);
    } finally {
      entry.uses -= 1;
      this.#rest(id, entry);
    }
  }

  /** Closes the connection of a destination that was deleted, at once. */
  drop(id: string): void {
    const entry = this.#entries.get(id);
    if (entry) this.#end(id, entry);
  }

  /** Closes all connections. */
  close(): void {
    this.#isClosed = true;
    for (const [id, entry] of this.#entries) this.#end(id, entry);
  }

  #entryOf(id: string, version: string, open: () => Promise<Kept>): Entry {
    const known = this.#entries.get(id);
    if (known?.version === version && (known.connection?.isOpen() ?? true)) return known;
    // With other settings, the uses of the earlier connection go on until they end.
    if (known) this.#replace(id, known);
    else this.#makeRoom();
    const entry: Entry = { version, opened: open(), uses: 0 };
    this.#entries.set(id, entry);
    entry.opened.then(
      connection => {
        entry.connection = connection;
        if (this.#isClosed) connection.close();
      },
      () => this.#leaveOut(id, entry),
    );
    return entry;
  }

  #makeRoom(): void {
    if (this.#entries.size < this.#bounds.most) return;
    const unused = [...this.#entries].find(([, { uses }]) => uses === 0);
    if (!unused) {
      throw new AppError(
        "unavailable",
        "this process has as many connections to destinations as it may have",
      );
    }
    this.#end(...unused);
  }

  #rest(id: string, entry: Entry): void {
    if (entry.uses > 0) return;
    if (this.#entries.get(id) !== entry) {
      closeOpened(entry);
      return;
    }
    // Last in the order of those that are closed for others.
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    entry.idle = setTimeout(() => this.#end(id, entry), this.#bounds.idleMs).unref();
  }

  #replace(id: string, entry: Entry): void {
    this.#leaveOut(id, entry);
    if (entry.uses === 0) closeOpened(entry);
  }

  #end(id: string, entry: Entry): void {
    this.#leaveOut(id, entry);
    closeOpened(entry);
  }

  #leaveOut(id: string, entry: Entry): void {
    clearTimeout(entry.idle);
    if (this.#entries.get(id) === entry) this.#entries.delete(id);
  }
}

function closeOpened({ opened }: Entry): void {
  opened.then(
    connection => connection.close(),
    () => undefined,
  );
}

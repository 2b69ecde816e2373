/** One self-contained ESM module whose default export is the component. */
export type Bundle = BundleText | BundleFile;

/** A bundle that is in memory as a whole. */
export interface BundleText {
  code: string;
  hash: string;
  /** The source map as JSON, unless the code contains it inline. */
  sourceMap?: string;
}

/** A bundle that is somewhere else: it may have 50 MB, and a process that is warm needs none of it. */
export interface BundleFile {
  /** SHA-256 (hex) of its text. */
  hash: string;
  /** Length of its text, if it is known: for the message if loading it takes too much memory. */
  bytes?: number;
  /**
   * Makes a file of its text at a path that is free. It may throw AppError, which the caller of the sandbox gets as it is.
   */
  writeTo(path: string): Promise<void>;
}

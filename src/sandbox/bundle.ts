/** One self-contained ESM module whose default export is the component. */
export interface Bundle {
  code: string;
  hash: string;
  /** The source map as JSON, unless the code contains it inline. */
  sourceMap?: string;
}

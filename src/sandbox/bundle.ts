/** One self-contained ESM module; its default export is the component. */
export interface Bundle {
  code: string;
  hash: string;
  /** JSON of the map, unless the code carries it inline. */
  sourceMap?: string;
}

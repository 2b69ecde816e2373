/** Begins the name of a module that is the place of a file: `require.resolve("./x")` is an import of it. */
export const PLACE_OF = "headwater-place:";

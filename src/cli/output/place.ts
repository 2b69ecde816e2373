/** Returns where in code an error is, in brackets; nothing if that is not known. */
export const placeOf = ({ line, column }: { line: number | null; column: number | null }): string =>
  line === null ? "" : ` (line ${line}${column === null ? "" : `, column ${column}`})`;

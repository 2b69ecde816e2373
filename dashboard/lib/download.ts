const TYPES = { csv: "text/csv", json: "application/json" };

/** Saves a text as a file; its name says of which type it is. */
export function download(name: string, text: string): void {
  const type = TYPES[name.endsWith(".csv") ? "csv" : "json"];
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

import { useEffect, useRef, useState } from "preact/hooks";
import { messageOf } from "../api/client";
import type { ReadPage } from "../api/paged";
import { type RowsRead, readRows } from "../api/pages";
import { csvOf } from "../lib/csv";
import { download } from "../lib/download";
import { count, counted } from "../lib/format";
import { Button, Notice } from "./basics";
import { Dialog } from "./dialog";

/** Rows of one file. */
const MOST = 10_000;

interface ExportDialogProps {
  /** What is listed, such as `deliveries`: the name of the file. */
  things: string;
  /** Reads a page of the list, narrowed as it is shown. */
  read: ReadPage<object>;
  onClose: () => void;
}

/** What was read so far, and the file once all of it is saved. */
interface Progress extends RowsRead<object> {
  file?: string;
}

type Format = "csv" | "json";

/** Saves what a list shows, of all its pages, as a file. They are read one after the other, at the pace that the API allows. */
export function ExportDialog({ things, read, onClose }: ExportDialogProps) {
  const [progress, setProgress] = useState<Progress | null>(null);
  const [error, setError] = useState<unknown>();
  const reading = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => reading.current?.abort(), []);
  const save = async (format: Format) => {
    reading.current?.abort();
    const abort = new AbortController();
    reading.current = abort;
    const { signal } = abort;
    setError(undefined);
    try {
      const onPage = (last: Progress) => !signal.aborted && setProgress(last);
      const all = await readRows(cursor => read(cursor, { signal }), { most: MOST, onPage });
      if (signal.aborted) return;
      const file = `${things.replaceAll(" ", "-")}.${format}`;
      download(file, format === "csv" ? csvOf(all.rows) : JSON.stringify(all.rows, null, 2));
      setProgress({ ...all, file });
    } catch (thrown) {
      if (!signal.aborted) setError(thrown);
    }
  };
  const isSaved = progress?.file !== undefined;
  return (
    <Dialog isQuestion title={`Export ${things}`} onClose={onClose}>
      {error !== undefined && <Notice tone="bad">{messageOf(error)}</Notice>}
      <p role="status">{textOf(things, progress)}</p>
      {isSaved && !progress.isWhole && (
        <Notice tone="warn">There are more: narrow the list, and export the rest.</Notice>
      )}
      <div class="row end">
        <Button onClick={onClose}>{isSaved ? "Close" : "Cancel"}</Button>
        <Button onClick={() => save("json")}>JSON</Button>
        <Button kind="primary" onClick={() => save("csv")}>
          CSV
        </Button>
      </div>
    </Dialog>
  );
}

function textOf(things: string, progress: Progress | null): string {
  if (progress === null)
    return `All ${things} of this list as it is narrowed, at most ${count(MOST)}. CSV has a column for each value, and no payloads; JSON is what the API returns.`;
  const { rows, total, file } = progress;
  if (file) return `${counted(rows.length, "row")} saved as ${file}.`;
  return `${count(rows.length)} of ${count(Math.max(total, rows.length))} rows are read …`;
}

import { useState } from "preact/hooks";
import type { Code } from "../api/code";
import { Notice } from "../ui/basics";
import { Select } from "../ui/form";

/** Which file of some code is looked at: at first `first`, else the main one. `field` chooses another, where there are several. */
export function useFile({ files, entry }: Code, first = entry) {
  const [wanted, setWanted] = useState(first);
  const file = wanted in files ? wanted : entry;
  const paths = Object.keys(files);
  const field = paths.length > 1 && (
    <Select
      label="File"
      isBare
      value={file}
      choices={paths.map(path => ({ value: path, label: path === entry ? `${path} (main)` : path }))}
      onChange={setWanted}
    />
  );
  return { file, text: files[file] ?? "", field };
}

export const withFile = (code: Code, file: string, text: string): Code => ({
  ...code,
  files: { ...code.files, [file]: text },
});

export const PartNotice = () => (
  <Notice>
    This is the component's main file. An earlier release saved it and kept no others: deploy it once more
    from where they are, to edit them here.
  </Notice>
);

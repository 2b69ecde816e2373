import { useMemo } from "preact/hooks";
import { diffCode, type FileDiff } from "../../src/lib/code-diff.ts";
import { headwater, type Schemas } from "../api/client";
import { useResource } from "../api/resource";
import { Notice } from "../ui/basics";
import { Select } from "../ui/form";
import { Loaded } from "../ui/states";

type Version = Schemas["CodeVersion"];

export interface VersionDiffProps {
  /** The id of the source. */
  id: string;
  versions: Version[];
  after: Version;
  /** Undefined for the first version. */
  before: Version | undefined;
  onChoose: (number: number) => void;
}

/** More lines would take the browser seconds to show. */
const MOST_LINES = 2000;

/** What differs between two versions of a source's code: removed lines with −, added ones with +. */
export const VersionDiff = ({ id, versions, after, before, onChoose }: VersionDiffProps) => (
  <section class="card">
    <div class="card-head">
      <h2>{before ? `From version ${before.number} to ${after.number}` : `Version ${after.number}`}</h2>
      {before && (
        <Select
          label="Compare with"
          isBare
          value={String(before.number)}
          choices={versions
            .filter(
              ({ number, can_restore }) =>
                number === before.number || (can_restore && number !== after.number),
            )
            .map(({ number }) => ({ value: String(number), label: `Compare with version ${number}` }))}
          onChange={chosen => onChoose(Number(chosen))}
        />
      )}
    </div>
    {before ? (
      <Compared
        key={`${before.number} ${after.number}`}
        id={id}
        before={before.number}
        after={after.number}
      />
    ) : (
      <p class="card-body muted">There is no earlier version to compare it with.</p>
    )}
  </section>
);

function Compared({ id, before, after }: { id: string; before: number; after: number }) {
  const resource = useResource(
    call => Promise.all([before, after].map(number => headwater.sources.version(id, number, call))),
    [id, before, after],
  );
  return (
    <Loaded resource={resource}>{([old, now]) => (old && now ? <Diff old={old} now={now} /> : null)}</Loaded>
  );
}

type Detail = Schemas["CodeVersionDetail"];

function Diff({ old, now }: { old: Detail; now: Detail }) {
  const files = useMemo(() => diffCode(old, now), [old, now]);
  const gone = [old, now].find(({ code }) => code === null);
  if (gone) return <p class="card-body muted">The code of version {gone.number} was deleted.</p>;
  if (files.length === 0) return <p class="card-body muted">Both have the same code.</p>;
  return (
    <div class="card-body stack">
      {files.map(file => (
        <File key={file.path} file={file} />
      ))}
    </div>
  );
}

interface Line {
  sign: string;
  text: string;
  /** In the file as it was, and as it is; null where the line is not in it. */
  numbers: [number | null, number | null];
  /** Whether lines are left out before it. */
  isAfterGap: boolean;
}

function linesOf({ hunks }: FileDiff): Line[] {
  return (hunks ?? []).flatMap(({ oldStart, newStart, lines }) => {
    let [old, now] = [oldStart, newStart];
    return lines
      .filter(line => !line.startsWith("\\"))
      .map((line, at) => {
        const sign = line.charAt(0);
        const numbers: Line["numbers"] = [sign === "+" ? null : old++, sign === "-" ? null : now++];
        return { sign, text: line.slice(1), numbers, isAfterGap: at === 0 && oldStart > 1 };
      });
  });
}

const KINDS: Record<string, { name: string; sign: string }> = {
  "+": { name: "added", sign: "+" },
  "-": { name: "removed", sign: "−" },
};

function File({ file }: { file: FileDiff }) {
  if (file.hunks === null)
    return <Notice>Nearly all of {file.path} differs: it is not shown line by line.</Notice>;
  const lines = linesOf(file);
  const count = (sign: string) => lines.filter(line => line.sign === sign).length;
  return (
    <table class="diff">
      <caption>
        <code>{file.path}</code> +{count("+")} −{count("-")}
      </caption>
      <tbody>
        {lines.slice(0, MOST_LINES).map(({ sign, text, numbers, isAfterGap }) => {
          const kind = KINDS[sign];
          return (
            <tr key={numbers.join()} class={`${kind?.name ?? ""}${isAfterGap ? " after-gap" : ""}`}>
              <td class="number">{numbers[0]}</td>
              <td class="number">{numbers[1]}</td>
              <td class="sign">
                {kind && (
                  <>
                    <span aria-hidden="true">{kind.sign}</span>
                    <span class="visually-hidden">{kind.name}</span>
                  </>
                )}
              </td>
              <td class="line">{text}</td>
            </tr>
          );
        })}
      </tbody>
      {lines.length > MOST_LINES && (
        <tfoot>
          <tr>
            <td colSpan={4}>
              {lines.length - MOST_LINES} more lines: <code>headwater source diff</code> prints all.
            </td>
          </tr>
        </tfoot>
      )}
    </table>
  );
}

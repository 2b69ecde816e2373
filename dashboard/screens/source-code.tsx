import { useEffect, useMemo, useState } from "preact/hooks";
import { headwater, messageOf } from "../api/client";
import { type Code, codeBody, failedInput, isSameCode, readCode, type SavedCode } from "../api/code";
import { useResource } from "../api/resource";
import { type SourceResource, updateSource } from "../api/source";
import type { EditorProps } from "../editor/editor";
import { useFilters } from "../lib/address";
import { fileInStack } from "../lib/stack";
import { Button, Notice } from "../ui/basics";
import { Dock } from "../ui/dock";
import { Check } from "../ui/form";
import { HelpLink } from "../ui/help-link";
import { later } from "../ui/later";
import { Loaded } from "../ui/states";
import { toast } from "../ui/toasts";
import { useUnsaved } from "../ui/unsaved";
import { PartNotice, useFile, withFile } from "./component-files";
import { About, useDescription } from "./description";
import { ResultPane, TryPane, useRunFault, useTrial, ValuesPane } from "./try-run";

export const Editor = later<EditorProps>(async () => (await import("../editor/editor")).Editor);

/** The code of a source: edit, check, try, compare with what is deployed, deploy. */
export function SourceCode({ resource }: { resource: SourceResource }) {
  const source = resource.data;
  const component = useResource(call => readCode(source?.component_id ?? "", call), [source?.component_id]);
  if (!source) return null;
  return (
    <Loaded resource={component}>
      {found =>
        found === null ? (
          <Notice>
            Its component belongs to another member of the organization, who alone sees its code.
          </Notice>
        ) : (
          <Workbench deployed={found} source={source} resource={resource} />
        )
      }
    </Loaded>
  );
}

interface WorkbenchProps {
  deployed: SavedCode;
  source: NonNullable<SourceResource["data"]>;
  resource: SourceResource;
}

function Workbench({ deployed, source, resource }: WorkbenchProps) {
  /** The code that its reader began to change. */
  const [base, setBase] = useState(deployed);
  const [code, setCode] = useState(deployed.code);
  const [hasDiff, setDiff] = useState(false);
  const { described, check } = useDescription();
  const { query } = useFilters([]);
  const thrown = thrownAt(base.code, query);
  const { file, text, field } = useFile(code, thrown?.file);
  const { faults, setRan } = useRunFault(code, file);
  const shownLine = thrown?.file === file && isSameCode(code, base.code) ? thrown.line : undefined;
  const shownFaults = useMemo(
    () =>
      shownLine === undefined
        ? faults
        : [...faults, { message: "A run threw an error here.", line: shownLine, column: null }],
    [faults, shownLine],
  );
  const [fault, setFault] = useState("");
  const { input } = query;
  const failed = useResource(async () => (input ? await failedInput(source.id, input) : undefined), [input]);
  const values = withoutEndpoints(source.configured_props);
  const trial = useTrial({ code, values, event: failed.data, onRan: setRan });
  const isChanged = !isSameCode(code, base.code);
  // What is deployed from here is loaded a moment later.
  const isOther = deployed.id !== base.id && deployed.id === source.component_id;
  useUnsaved(isChanged);
  const load = () => {
    setBase(deployed);
    setCode(deployed.code);
  };
  useEffect(() => {
    if (isOther && !isChanged) load();
  }, [deployed.id]);
  const deploy = async () => {
    setFault("");
    try {
      const now = await headwater.sources.get(source.id);
      if (now.component_id !== base.id) return resource.put(now);
      const stored = await updateSource(now, codeBody(code));
      setBase({ id: stored.component_id, code, isPart: false });
      resource.put(stored);
      toast("Deployed.", "good");
    } catch (error) {
      setFault(messageOf(error));
    }
  };
  return (
    <div class="stack">
      {base.isPart && <PartNotice />}
      {query.of && query.of !== base.id && (
        <Notice>Other code was deployed since that run: the line may be another one.</Notice>
      )}
      {isOther && isChanged && (
        <Notice tone="bad">
          <div class="spread">
            <span>Other code was deployed since you began. “Show changes” shows what differs from it.</span>
            <span class="row">
              <Button isSmall onClick={load}>
                Load it
              </Button>
              <Button isSmall onClick={() => setBase(deployed)}>
                Keep mine
              </Button>
            </span>
          </div>
        </Notice>
      )}
      <Dock
        code={
          <>
            <div class="card-head">
              <h2>Code</h2>
              <HelpLink topic="component" />
              {field}
              <Check label="Show changes" isOn={hasDiff} onChange={setDiff} />
              <Button changes kind="primary" isSmall icon="zap" isDisabled={!isChanged} onClick={deploy}>
                Deploy
              </Button>
            </div>
            <Editor
              key={file}
              label="Code of the component"
              value={text}
              onChange={now => setCode(latest => withFile(latest, file, now))}
              check={now => check(withFile(code, file, now), file)}
              faults={shownFaults}
              line={shownLine}
              original={hasDiff ? (deployed.code.files[file] ?? "") : undefined}
            />
            <About described={described}>{fault && <Notice tone="bad">{fault}</Notice>}</About>
          </>
        }
      >
        <TryPane trial={trial} hasSample={described?.component?.sample_emit ?? false} />
        <ResultPane trial={trial} />
        <ValuesPane trial={trial} props={described?.component?.configurable_props ?? []} values={values} />
      </Dock>
    </div>
  );
}

/** The place in the code that a link from an error names. */
function thrownAt({ files, entry }: Code, { file, line }: Record<string, string>) {
  if (!file || !line) return undefined;
  const path = fileInStack(Object.keys(files), entry, file);
  return path === undefined ? undefined : { file: path, line: Number(line) };
}

/** An endpoint's address is made by the server, and is not configured. */
const withoutEndpoints = (values: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => !isEndpoint(value)));

const isEndpoint = (value: unknown) => typeof value === "object" && value !== null && "endpoint_url" in value;

import { useState } from "preact/hooks";
import { headwater, messageOf } from "../api/client";
import { useResource } from "../api/resource";
import { failedInput, readComponent } from "../api/source";
import type { EditorProps } from "../editor/editor";
import { useFilters } from "../lib/address";
import { Button, Notice } from "../ui/basics";
import { Check } from "../ui/form";
import { later } from "../ui/later";
import { Loaded } from "../ui/states";
import { toast } from "../ui/toasts";
import { useUnsaved } from "../ui/unsaved";
import type { SourceResource } from "./source";
import { About, TryRun, useDescription, useRunFault } from "./try-run";

export const Editor = later<EditorProps>(async () => (await import("../editor/editor")).Editor);

/** The code of a source: edit, check, try, compare with what is deployed, deploy. */
export function SourceCode({ resource }: { resource: SourceResource }) {
  const source = resource.data;
  const component = useResource(
    call => readComponent(source?.component_id ?? "", call),
    [source?.component_id],
  );
  if (!source) return null;
  return (
    <Loaded resource={component}>
      {found =>
        found === null ? (
          <Notice>
            Its component belongs to another member of the organization, who alone sees its code.
          </Notice>
        ) : (
          <Workbench key={found.id} deployed={found.code} source={source} onDeployed={resource.reload} />
        )
      }
    </Loaded>
  );
}

interface WorkbenchProps {
  deployed: string;
  source: NonNullable<SourceResource["data"]>;
  onDeployed: () => void;
}

function Workbench({ deployed, source, onDeployed }: WorkbenchProps) {
  const [code, setCode] = useState(deployed);
  const [hasDiff, setDiff] = useState(false);
  const { described, check } = useDescription();
  const { faults, setRan } = useRunFault(code);
  const [fault, setFault] = useState("");
  const { input } = useFilters([]).query;
  const failed = useResource(async () => (input ? await failedInput(source.id, input) : undefined), [input]);
  const isChanged = code !== deployed;
  const question = useUnsaved(isChanged);
  const deploy = async () => {
    setFault("");
    try {
      await headwater.sources.update(source.id, { component_code: code, active: source.active });
      toast("Deployed.", "good");
      onDeployed();
    } catch (error) {
      setFault(messageOf(error));
    }
  };
  return (
    <div class="stack">
      {question}
      {fault && <Notice tone="bad">{fault}</Notice>}
      <div class="columns wide-left">
        <section class="card">
          <div class="card-head">
            <h2>Code</h2>
            <Check label="Show changes" isOn={hasDiff} onChange={setDiff} />
            <Button kind="primary" isSmall icon="zap" isDisabled={!isChanged} onClick={deploy}>
              Deploy
            </Button>
          </div>
          <Editor
            label="Code of the component"
            initial={code}
            onChange={setCode}
            check={check}
            faults={faults}
            original={hasDiff ? deployed : undefined}
          />
        </section>
        <div class="stack">
          <About described={described} />
          {!failed.isLoading && (
            <TryRun
              code={code}
              values={withoutEndpoints(source.configured_props)}
              props={described?.component?.configurable_props ?? []}
              hasSample={described?.component?.sample_emit ?? false}
              event={failed.data}
              onRan={setRan}
            />
          )}
        </div>
      </div>
    </div>
  );
}

/** An endpoint's address is made by the server, and is not configured. */
const withoutEndpoints = (values: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => !isEndpoint(value)));

const isEndpoint = (value: unknown) => typeof value === "object" && value !== null && "endpoint_url" in value;

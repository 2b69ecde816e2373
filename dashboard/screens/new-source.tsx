import { useMemo, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { codeOf } from "../api/code";
import { askCode, given, type Values } from "../api/configure";
import { HELLO_CODE } from "../api/receiver";
import { inAccount } from "../api/session";
import { useNewSender } from "../api/verification";
import { to, useFilters } from "../lib/address";
import { Button, Page } from "../ui/basics";
import { Dock, Pane } from "../ui/dock";
import { Select, TextField } from "../ui/form";
import { FormFault, useSending } from "../ui/form-fault";
import { HelpLink } from "../ui/help-link";
import { toast } from "../ui/toasts";
import { leaveThen, useUnsaved } from "../ui/unsaved";
import { About, useDescription } from "./description";
import { known, MadeState, useMadeProps } from "./made-props";
import { hasField, PropForm, propFaults } from "./prop-form";
import { SilentCheck } from "./silent-check";
import { Editor } from "./source-code";
import { ResultPane, TryPane, useRunFault, useTrial } from "./try-run";
import { hasVerifyField, NewSender } from "./verify-fields";

const TIMER_CODE = `export default {
  name: "Heartbeat",
  version: "0.0.1",
  props: {
    timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } },
    db: "$.service.db",
    label: { type: "string", label: "Label", default: "beat" },
  },
  run() {
    const beat = (this.db.get("beat") ?? 0) + 1;
    this.db.set("beat", beat);
    this.$emit({ label: this.label, beat }, { id: beat, summary: this.label + " " + beat });
  },
};
`;

const POLL_CODE = `// New items of a JSON API, each once.
export default {
  name: "New items",
  version: "0.0.1",
  dedupe: "unique",
  props: {
    timer: { type: "$.interface.timer", default: { intervalSeconds: 300 } },
    url: { type: "string", label: "Address", description: "Responds with a JSON array of objects with an id." },
  },
  async run() {
    const response = await fetch(this.url);
    for (const item of await response.json()) this.$emit(item, { id: item.id, summary: item.title });
  },
};
`;

const TEMPLATES: Record<string, string> = { http: HELLO_CODE, timer: TIMER_CODE, poll: POLL_CODE };

/** A source from code that is written here: template, editor, props, try-run, deploy. */
export function NewSource() {
  const { route } = useLocation();
  const filters = useFilters([]);
  const template = filters.query.template ?? "http";
  const [code, setCode] = useState(TEMPLATES[template] ?? HELLO_CODE);
  const [name, setName] = useState("");
  const [isSilent, setSilent] = useState(false);
  const [values, setValues] = useState<Values>({});
  const { described, check } = useDescription();
  const { fault, faultOf, send } = useSending();
  const whole = useMemo(() => codeOf(code), [code]);
  const { faults: runFaults, setRan } = useRunFault(whole);
  useUnsaved(code !== (TEMPLATES[template] ?? HELLO_CODE));
  const deploy = () =>
    send(async () => {
      const verify = sender.settings();
      const source = await inAccount().sources.create({
        component_code: code,
        configured_props: known(given(values), component?.additional_props ? made.props : null),
        ...(made.id && { dynamic_props_id: made.id }),
        ...(name && { name }),
        ...(verify && { verify }),
        ...(isSilent && { emit_on_deploy: false }),
      });
      toast("Deployed.", "good");
      route(to(`/sources/${source.id}`));
    });
  const asker = useMemo(() => askCode(code), [code]);
  const component = described?.component;
  const sender = useNewSender(component?.configurable_props ?? []);
  const made = useMadeProps(
    component?.configurable_props ?? [],
    values,
    component?.additional_props ? asker : null,
    { id: null, props: [] },
  );
  const trial = useTrial({
    code: whole,
    values: known(given(values), component ? made.props : null),
    onRan: setRan,
  });
  const choose = (next: string) =>
    leaveThen(() => {
      filters.set({ template: next });
      setCode(TEMPLATES[next] ?? HELLO_CODE);
      trial.reset();
    });
  const faults = propFaults(fault);
  return (
    <Page
      title="New source"
      crumbs={<a href={to("/sources")}>Sources</a>}
      about="Write it here, try it, and deploy it. npm imports work; their versions are pinned."
    >
      <Dock
        code={
          <>
            <div class="card-head">
              <h2>Code</h2>
              <HelpLink topic="component" />
              <Select
                label="Template"
                isBare
                value={template}
                choices={[
                  { value: "http", label: "Example: HTTP request" },
                  { value: "timer", label: "Example: timer" },
                  { value: "poll", label: "Example: poll an API" },
                ]}
                onChange={choose}
              />
              <Button changes kind="primary" isSmall icon="zap" onClick={deploy}>
                Deploy
              </Button>
            </div>
            <Editor
              label="Code of the component"
              value={code}
              onChange={setCode}
              check={text => check(codeOf(text))}
              faults={runFaults}
            />
            <About described={described}>
              <FormFault
                fault={fault}
                isShown={path => path === "name" || hasField(made.props, path) || hasVerifyField(path)}
              />
            </About>
          </>
        }
      >
        <TryPane trial={trial} hasSample={component?.sample_emit ?? false} />
        <ResultPane trial={trial} />
        <Pane title="Configuration">
          <div class="form">
            <TextField
              label="Name"
              value={name}
              onInput={setName}
              fault={faultOf("name")}
              hint="Empty: the name in the code."
            />
            {component && (
              <PropForm
                props={made.props}
                remote={{ asker, soFar: { values: given(values), dynamicPropsId: made.id } }}
                values={values}
                faults={faults}
                stored={null}
                onChange={(prop, value) => setValues(latest => ({ ...latest, [prop]: value }))}
              />
            )}
            {component?.additional_props && <MadeState made={made} />}
            <NewSender sender={sender} fault={fault} faultOf={faultOf} />
            <SilentCheck isSilent={isSilent} onChange={setSilent} />
          </div>
        </Pane>
      </Dock>
    </Page>
  );
}

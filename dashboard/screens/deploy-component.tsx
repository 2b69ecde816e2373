import { useMemo, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso/router";
import { headwater, type Schemas } from "../api/client";
import { askComponent } from "../api/configure";
import { useResource } from "../api/resource";
import { inAccount } from "../api/session";
import { useNewSender } from "../api/verification";
import { to } from "../lib/address";
import { Button, Card, Copyable, Page } from "../ui/basics";
import { Form, TextField } from "../ui/form";
import { FormFault, useSending } from "../ui/form-fault";
import { Loaded } from "../ui/states";
import { toast } from "../ui/toasts";
import { ComponentFields, useComponentForm, useNewValues } from "./component-form";
import type { KeyLink } from "./prop-fields";
import { propFaults } from "./prop-form";
import { SilentCheck } from "./silent-check";
import { Outcome } from "./try-run";
import { hasVerifyField, NewSender } from "./verify-fields";

type Component = Schemas["Component"];

/** Makes a source or an action of a saved component. */
export function DeployComponent() {
  const { id = "" } = useRoute().params;
  const resource = useResource(call => headwater.components.get(id, call), [id]);
  const found = resource.data;
  return (
    <Page
      title={found ? `Deploy ${found.name}` : "Deploy"}
      crumbs={
        <>
          <a href={to("/components")}>Components</a> /{" "}
          <a href={to(`/components/${id}`)}>{found?.name ?? id}</a>
        </>
      }
      about={<Copyable text={id} label="id" />}
    >
      <Loaded resource={resource}>
        {component => <DeployForm key={component.id} component={component} />}
      </Loaded>
    </Page>
  );
}

interface DeployFormProps {
  component: Component;
  /** Whether it has a sample to test with. */
  hasSample?: boolean;
  /** Where the vendor shows the keys that its secrets are. */
  keyLink?: KeyLink | null;
}

/** The form of a new source or action, which can be tested before anything is deployed. */
export function DeployForm({ component, hasSample = false, keyLink = null }: DeployFormProps) {
  const { route } = useLocation();
  const [name, setName] = useState("");
  const [isSilent, setSilent] = useState(false);
  const { fault, faultOf, send } = useSending();
  const asker = useMemo(() => askComponent(component.id), [component.id]);
  const form = useComponentForm(component, asker, useNewValues());
  const isAction = component.type === "action";
  // An action has no interface that a request could come to.
  const sender = useNewSender(component.configurable_props);
  const [tried, setTried] = useState<Schemas["TriedCode"] | null>(null);
  const faults = propFaults(fault);
  const test = () =>
    send(async () => {
      setTried(null);
      const { configured_props } = form.whole();
      setTried(await inAccount().components.trySaved(component.id, { configured_props, sample_emit: true }));
    });
  const deploy = () =>
    send(async () => {
      const verify = sender.settings();
      const { sources, destinations } = inAccount();
      const settings = { component_id: component.id, ...form.whole() };
      const { id } = isAction
        ? await destinations.create({ action: settings, name: name || component.name })
        : await sources.create({
            ...settings,
            ...(name && { name }),
            ...(verify && { verify }),
            ...(isSilent && { emit_on_deploy: false }),
          });
      toast("Deployed.", "good");
      route(to(isAction ? `/destinations/${id}` : `/sources/${id}`));
    });
  return (
    <Card title={isAction ? "Deploy as action" : "Deploy source"}>
      <Form onSend={deploy}>
        <p class="hint">
          {isAction
            ? "Each event of its subscriptions runs it once, with these values."
            : "It runs by its timer, its endpoint or the events that it listens to, with these values."}
        </p>
        <FormFault
          fault={fault}
          isShown={path => path === "name" || form.isShown(path) || hasVerifyField(path)}
        />
        <TextField
          label="Name"
          value={name}
          onInput={setName}
          fault={faultOf("name")}
          hint="By default from the component's."
        />
        <ComponentFields component={component} form={form} keyLink={keyLink} faults={faults} />
        <NewSender sender={sender} fault={fault} faultOf={faultOf} />
        {!isAction && <SilentCheck isSilent={isSilent} onChange={setSilent} />}
        <div class="row end">
          {hasSample && (
            <Button changes icon="play" onClick={test}>
              Test with the sample
            </Button>
          )}
          <Button changes type="submit" kind="primary" icon="zap">
            Deploy
          </Button>
        </div>
        <div role="status">
          {tried && (
            <div class="stack tight">
              <p class="hint">What it would emit. Nothing of it is stored, and nothing is deployed yet.</p>
              <Outcome result={tried} />
            </div>
          )}
        </div>
      </Form>
    </Card>
  );
}

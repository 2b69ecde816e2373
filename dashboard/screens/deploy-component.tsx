import { useMemo, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso/router";
import { headwater, type Schemas } from "../api/client";
import { askComponent } from "../api/configure";
import { useResource } from "../api/resource";
import { inAccount } from "../api/session";
import { to } from "../lib/address";
import { Button, Card, Copyable, Page } from "../ui/basics";
import { Form, TextField } from "../ui/form";
import { FormFault, useSending } from "../ui/form-fault";
import { Loaded } from "../ui/states";
import { toast } from "../ui/toasts";
import { ComponentFields, useComponentForm, useNewValues } from "./component-form";
import { propFaults } from "./prop-form";
import { SilentCheck } from "./silent-check";

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

/** The form of a new source or action. */
export function DeployForm({ component }: { component: Component }) {
  const { route } = useLocation();
  const [name, setName] = useState("");
  const [isSilent, setSilent] = useState(false);
  const { fault, faultOf, send } = useSending();
  const asker = useMemo(() => askComponent(component.id), [component.id]);
  const form = useComponentForm(component, asker, useNewValues());
  const isAction = component.type === "action";
  const faults = propFaults(fault);
  const deploy = () =>
    send(async () => {
      const { sources, destinations } = inAccount();
      const settings = { component_id: component.id, ...form.whole() };
      const { id } = isAction
        ? await destinations.create({ action: settings, name: name || component.name })
        : await sources.create({
            ...settings,
            ...(name && { name }),
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
        <FormFault fault={fault} isShown={path => path === "name" || form.isShown(path)} />
        <TextField
          label="Name"
          value={name}
          onInput={setName}
          fault={faultOf("name")}
          hint="By default from the component's."
        />
        <ComponentFields component={component} form={form} faults={faults} />
        {!isAction && <SilentCheck isSilent={isSilent} onChange={setSilent} />}
        <div class="row end">
          <Button changes type="submit" kind="primary" icon="zap">
            Deploy
          </Button>
        </div>
      </Form>
    </Card>
  );
}

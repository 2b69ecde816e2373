import type { Schemas } from "../api/client";
import { headwater } from "../api/client";
import { asRead, saveEdits, useEdits } from "../api/edits";
import { type SourceResource, updateSource } from "../api/source";
import { authorVerify, usePresets, useVerifyForm, verifyFields } from "../api/verification";
import { Button, Card } from "../ui/basics";
import { Clashes } from "../ui/clashes";
import { Form } from "../ui/form";
import { FormFault, useSending } from "../ui/form-fault";
import { Loaded } from "../ui/states";
import { toast } from "../ui/toasts";
import { useUnsaved } from "../ui/unsaved";
import { hasVerifyField, VERIFY_LABELS, VerifyBadge, VerifyFields } from "./verify-fields";

type Detail = NonNullable<SourceResource["data"]>;

interface SourceVerifyProps {
  source: Detail;
  resource: SourceResource;
  /** Props of its component; none if that belongs to another member. */
  props: Schemas["ConfigurableProp"][];
}

/** Who may send to a source, as its owner says it. */
export function SourceVerify({ source, resource, props }: SourceVerifyProps) {
  const presets = usePresets();
  const edits = useEdits(source, ({ verify }) => verifyFields(verify));
  const form = useVerifyForm(edits, {
    verify: source.verify,
    author: authorVerify(props),
    presets: presets.data ?? [],
  });
  const { fault, faultOf, send } = useSending();
  useUnsaved(form.isChanged);
  const save = () =>
    send(async () => {
      const isSaved = await saveEdits({
        resource,
        parts: [edits],
        read: () => headwater.sources.get(source.id),
        write: now => updateSource(now, { verify: form.settings() }, asRead(now)),
      });
      if (!isSaved) return;
      form.saved();
      toast("Saved.", "good");
    });
  return (
    <Card title="Verification" actions={<VerifyBadge verify={source.verify} />}>
      <Loaded resource={presets}>
        {listed => (
          <Form onSend={save}>
            <p class="hint">
              The server checks who signed a request before anything of it is stored, and rejects the rest.
            </p>
            <FormFault fault={fault} isShown={hasVerifyField} />
            <Clashes edits={edits} stored={source} labelOf={name => VERIFY_LABELS[name] ?? name} />
            <VerifyFields form={form} presets={listed} fault={fault} faultOf={faultOf} />
            <div>
              <Button changes type="submit" kind="primary">
                Save verification
              </Button>
            </div>
          </Form>
        )}
      </Loaded>
    </Card>
  );
}

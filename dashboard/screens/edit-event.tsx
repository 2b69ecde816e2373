import { useState } from "preact/hooks";
import { headwater, type Schemas } from "../api/client";
import { to } from "../lib/address";
import { Button } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { Form, TextField } from "../ui/form";
import { toast } from "../ui/toasts";

type Trace = Schemas["EventTrace"];

/** Why a text is not JSON, in a sentence; "" if it is. */
function faultOf(text: string): string {
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}.`;
  }
}

/** Publishes an event like this one, with changes: the event that is stored stays as it is. */
export function EditEvent({ trace }: { trace: Trace }) {
  const { emitter_id, name, event } = trace;
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState("");
  const begin = () => {
    setText(JSON.stringify(event, null, 2));
    setOpen(true);
  };
  const publish = async () => {
    await headwater.publish(emitter_id, { event: JSON.parse(text), ...(name && { name }) });
    setOpen(false);
    toast("Published as a new event.", "good");
  };
  return (
    <>
      <Button changes icon="code" onClick={begin}>
        Edit and publish …
      </Button>
      {isOpen && (
        <Dialog title="Publish a changed event" onClose={() => setOpen(false)}>
          <Form onSend={publish}>
            <TextField
              label="Event"
              isLong
              rows={16}
              value={text}
              onInput={setText}
              invalid={faultOf(text)}
              hint="It becomes a new event of the same emitter and channel, with an id of its own, and goes to all whose subscriptions match it."
            />
            <div class="row end">
              <a
                class="grow"
                href={to(emitter_id.startsWith("p_") ? "/workflows" : `/sources/${emitter_id}`)}
              >
                Its emitter
              </a>
              <Button onClick={() => setOpen(false)}>Cancel</Button>
              <Button kind="primary" type="submit" icon="send">
                Publish
              </Button>
            </div>
          </Form>
        </Dialog>
      )}
    </>
  );
}

import { useState } from "preact/hooks";
import { messageOf, type Schemas } from "../api/client";
import { useFresh } from "../api/fresh";
import { useResource } from "../api/resource";
import { inAccount, orgId } from "../api/session";
import { to } from "../lib/address";
import { Button, Card, Notice } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { TextField } from "../ui/form";
import { WebhookBadge } from "./webhook-parts";

type Destination = Schemas["Destination"];

/** The newest; more than these are shown by the API and the command line. */
const SHOWN = { limit: 100 };

const EXAMPLE = `{
  "redis_stream": {
    "url": "rediss://redis.example.com:6380",
    "password": "",
    "stream": "events"
  }
}`;

/** What events go to besides webhooks: streams, queues, buckets. */
export function Destinations() {
  const resource = useResource(call => inAccount().destinations.list(SHOWN, call), [orgId.value]);
  useFresh(resource);
  const [isNew, setNew] = useState(false);
  const rows = resource.data?.data ?? [];
  return (
    <Card
      title="Destinations"
      actions={
        <Button isSmall icon="plus" onClick={() => setNew(true)}>
          New destination
        </Button>
      }
    >
      {rows.length === 0 ? (
        <p class="muted">Streams of Redis, queues of RabbitMQ and buckets get events as webhooks do.</p>
      ) : (
        <table class="table stacking">
          <thead>
            <tr>
              <th>Destination</th>
              <th>Kind</th>
              <th>Health</th>
              <th />
            </tr>
          </thead>
          <tbody>
            {rows.map(row => (
              <Row key={row.id} row={row} />
            ))}
          </tbody>
        </table>
      )}
      {isNew && (
        <NewDestination
          onClose={() => {
            setNew(false);
            resource.reload();
          }}
        />
      )}
    </Card>
  );
}

function Row({ row }: { row: Destination }) {
  const [said, setSaid] = useState("");
  const test = async () => {
    try {
      const result = await inAccount().destinations.test(row.id);
      setSaid(result.error ?? "The test event arrived.");
    } catch (error) {
      setSaid(messageOf(error));
    }
  };
  return (
    <tr>
      <td>
        <a class="title" href={to("/deliveries", { webhook_id: row.id })}>
          {row.name || row.url}
        </a>
        <div class="sub">{row.name ? row.url : row.id}</div>
      </td>
      <td data-label="Kind">{row.kind}</td>
      <td>
        <WebhookBadge webhook={row} />
      </td>
      <td>
        <Button isSmall onClick={test}>
          Test
        </Button>{" "}
        <span class="muted" role="status">
          {said}
        </span>
      </td>
    </tr>
  );
}

function NewDestination({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [text, setText] = useState(EXAMPLE);
  const [fault, setFault] = useState("");
  const create = async () => {
    try {
      const body = { ...JSON.parse(text), ...(name && { name }) };
      await inAccount().destinations.create(body);
      onClose();
    } catch (error) {
      setFault(messageOf(error));
    }
  };
  return (
    <Dialog title="New destination" onClose={onClose}>
      <form
        class="form"
        onSubmit={event => {
          event.preventDefault();
          void create();
        }}
      >
        {fault !== "" && <Notice tone="bad">{fault}</Notice>}
        <TextField label="Name" value={name} onInput={setName} hint="Shown in lists; the address if empty." />
        <TextField
          label="Settings"
          isLong
          rows={8}
          value={text}
          onInput={setText}
          hint="JSON with redis_stream, rabbitmq or s3. Passwords are kept encrypted and never shown again."
        />
        <div class="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary">
            Create destination
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

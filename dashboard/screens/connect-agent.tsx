import { useState } from "preact/hooks";
import { decideAgentConsent, readAgentConsent } from "../api/calls";
import { ApiError, type Schemas } from "../api/client";
import { useResource } from "../api/resource";
import { me } from "../api/session";
import { BASE, useFilters } from "../lib/address";
import { Button, Card, LinkButton, Notice, Page, Time } from "../ui/basics";
import { Form, Select } from "../ui/form";
import { FormFault, useSending } from "../ui/form-fault";
import { Failed, Loading, NothingYet } from "../ui/states";

type Access = "read" | "full";

const CHOICES: { value: Access; label: string }[] = [
  { value: "read", label: "Read" },
  { value: "full", label: "Everything that you can" },
];

/** Asks whether an agent's host may connect as the user; the authorization server sends the browser here, and it goes on to the host. */
export function ConnectAgent() {
  const request = useFilters([]).query.request ?? "";
  const asked = useResource(call => readAgentConsent(request, call), [request]);
  const isGone = request === "" || (asked.error instanceof ApiError && asked.error.status === 404);
  return (
    <Page title="Connect an agent">
      {asked.data && <Question request={request} asked={asked.data} />}
      {asked.isLoading && <Loading />}
      {isGone && <Gone />}
      {!isGone && asked.error !== undefined && <Failed error={asked.error} onRetry={asked.reload} />}
    </Page>
  );
}

const Gone = () => (
  <section class="card">
    <NothingYet
      icon="search"
      title="Nothing waits here"
      action={<LinkButton href={BASE}>To the overview</LinkButton>}
    >
      The request was decided already, or it is too old. Begin again in the agent’s settings.
    </NothingYet>
  </section>
);

function Question({ request, asked }: { request: string; asked: Schemas["AgentConsent"] }) {
  const [access, setAccess] = useState<Access>("read");
  const [isGoing, setGoing] = useState(false);
  const { fault, send } = useSending();
  const decide = (allow: boolean) =>
    send(async () => {
      const { url } = await decideAgentConsent({ request, allow, ...(allow && { access }) });
      setGoing(true);
      location.assign(url);
    });
  return (
    <Card title={`${asked.client_name} wants to connect to Headwater`}>
      <Form onSend={() => decide(true)}>
        <FormFault fault={fault} />
        <dl class="facts">
          <dt>As</dt>
          <dd>
            {me.value?.username}{" "}
            <span class="muted">({me.value?.email}), and what you may use of your organizations</span>
          </dd>
          <dt>Goes on to</dt>
          <dd class="mono">{asked.redirect_to}</dd>
          <dt>Waits until</dt>
          <dd>
            <Time seconds={asked.expires_at} />
          </dd>
        </dl>
        <Notice tone="warn">
          The name is what the agent’s host calls itself. Go on only if you began this yourself a moment ago,
          and know where it goes on to.
        </Notice>
        <Select
          label="It may"
          value={access}
          choices={CHOICES}
          onChange={value => setAccess(value as Access)}
          hint="It changes things only where the operator allows it and its address ends in ?write=1, too. It is listed under “API keys”, where you revoke it."
        />
        <div class="row end">
          <Button isDisabled={isGoing} onClick={() => void decide(false)}>
            Do not connect
          </Button>
          <Button type="submit" kind="primary" isDisabled={isGoing}>
            Connect
          </Button>
        </div>
      </Form>
    </Card>
  );
}

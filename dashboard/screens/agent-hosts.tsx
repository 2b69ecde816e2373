import { useState } from "preact/hooks";
import { to } from "../lib/address";
import { AGENT_HOSTS, agentAddress } from "../lib/agent-hosts";
import { orgId } from "../lib/shown-account";
import { Card, CopyBlock } from "../ui/basics";
import { Select } from "../ui/form";

const [FIRST] = AGENT_HOSTS;

/** How a host of agents connects to this installation, for the shown account. */
export function AgentHosts() {
  const [name, setName] = useState(FIRST?.name ?? "");
  const host = AGENT_HOSTS.find(one => one.name === name) ?? FIRST;
  const address = agentAddress(location.origin, orgId.value);
  return (
    <Card title="Connect an agent">
      <div class="stack tight">
        <p>
          Make an{" "}
          <a class="in-text" href={to("/keys")}>
            API key
          </a>{" "}
          for it alone: one that may read is enough, but to subscribe it needs full access.
        </p>
        <CopyBlock text={address} label="Address" />
        <Select
          label="Host"
          value={name}
          choices={AGENT_HOSTS.map(one => ({ value: one.name, label: one.name }))}
          onChange={setName}
          hint={host?.where}
        />
        {host && <CopyBlock text={host.textFor(address)} label={`Settings of ${host.name}`} />}
        <p class="muted">
          Hosts that start a program on your machine run <code>headwater mcp</code>.{" "}
          <a class="in-text" href="/docs/agents" target="_blank" rel="noopener">
            More about agents
          </a>
        </p>
      </div>
    </Card>
  );
}

import { useResource } from "../api/resource";
import { HELP, type HelpTopic, readInstallation } from "../lib/help";
import { Card, Copyable, CopyBlock, Page } from "../ui/basics";
import { Loaded } from "../ui/states";

/** What is explained, and in a few words what one finds there. */
const TOPICS: [topic: HelpTopic, what: string][] = [
  ["docs", "concepts, guides and reference, with a search"],
  ["api", "every route, with its fields and an example"],
  ["errors", "by their type, which each response names"],
  ["openapi", "to generate a client from"],
  ["component", "save, check and try code"],
  ["filter", "which events a subscription carries"],
  ["function", "code that changes an event on its way"],
  ["signing", "how a receiver knows that a request is ours"],
];

/** Where to read on, all of it of this installation in its version. */
export function Help() {
  const resource = useResource(call => readInstallation(call.signal ?? undefined), []);
  return (
    <Page title="Help" about="What this installation says of itself, in the version that runs here.">
      <div class="columns wide-left">
        <Card title="Read">
          <ul class="stack tight">
            {TOPICS.map(([topic, what]) => (
              <li key={topic}>
                <a class="in-text" href={HELP[topic].address} target="_blank" rel="noopener">
                  {HELP[topic].title}
                </a>
                <span class="muted">: {what}</span>
              </li>
            ))}
          </ul>
        </Card>
        <div class="stack">
          <Card title="This installation">
            <Loaded resource={resource} lines={2}>
              {({ version, board }) => (
                <dl class="facts">
                  <dt>Version</dt>
                  <dd>
                    <Copyable text={version} label="version" />
                  </dd>
                  {board && (
                    <>
                      <dt>For its operator</dt>
                      <dd>
                        <a href={board} target="_blank" rel="noopener">
                          Board of the queues
                        </a>
                      </dd>
                    </>
                  )}
                </dl>
              )}
            </Loaded>
          </Card>
          <Card title="At a terminal">
            <CopyBlock text="headwater --help" label="Command" />
          </Card>
        </div>
      </div>
    </Page>
  );
}

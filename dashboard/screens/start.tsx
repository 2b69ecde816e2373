import { useState } from "preact/hooks";
import { headwater, messageOf } from "../api/client";
import { nameOf } from "../api/names";
import { makeFirstEvent } from "../api/receiver";
import { useResource } from "../api/resource";
import { to, useFilters } from "../lib/address";
import { postCommand } from "../lib/curl";
import { Button, Card, CopyBlock, LinkButton, Notice, Page } from "../ui/basics";
import { Icon } from "../ui/icon";
import { Loaded } from "../ui/states";
import { EventRow, LiveControls, NoRows, Waiting } from "./event-list";
import { useLiveRows } from "./live-rows";

const STEPS = [
  "A source with an HTTP endpoint",
  "A receiver that shows what arrives",
  "A webhook to it",
  "A subscription",
];

/** From nothing to a watched event: makes what is needed, then shows both ends of its way. */
export function Start() {
  const filters = useFilters([]);
  const { source, echo } = filters.query;
  const [step, setStep] = useState(-1);
  const [fault, setFault] = useState("");
  const make = async () => {
    setFault("");
    try {
      const made = await makeFirstEvent(setStep);
      filters.set({ source: made.source.id, echo: made.echo.id, webhook: made.webhook.id });
    } catch (error) {
      setFault(messageOf(error));
      setStep(-1);
    }
  };
  return (
    <Page
      title="Your first event"
      about="A source that emits, and a receiver that shows what it was sent. No second machine is needed."
    >
      {source && echo ? (
        <Watch source={source} echo={echo} webhook={filters.query.webhook ?? ""} />
      ) : (
        <Card>
          <div class="stack">
            {fault && <Notice tone="bad">{fault}</Notice>}
            <ol class="steps">
              {STEPS.map((text, i) => (
                <li key={text} class={step > i ? "done" : step === i ? "current" : ""}>
                  <span class="dot">{step > i ? <Icon name="check" /> : i + 1}</span>
                  {text}
                </li>
              ))}
            </ol>
            <div>
              <Button changes kind="primary" icon="play" isDisabled={step >= 0} onClick={make}>
                {step >= 0 ? "Making …" : "Make all four"}
              </Button>
            </div>
          </div>
        </Card>
      )}
    </Page>
  );
}

function Watch({ source, echo, webhook }: { source: string; echo: string; webhook: string }) {
  const resource = useResource(call => headwater.sources.get(source, call), [source]);
  return (
    <Loaded resource={resource}>
      {detail => {
        const url = detail.configured_props.http?.endpoint_url ?? "";
        return (
          <div class="stack">
            <Card title="1. Send it something">
              <div class="stack tight">
                <CopyBlock text={postCommand(url, { name: "world" })} label="Request as curl" />
                <div class="row">
                  <Button changes kind="primary" icon="send" onClick={() => sendHello(source)}>
                    Or publish it from here
                  </Button>
                  <LinkButton href={to(`/sources/${source}`)}>Open the source</LinkButton>
                  <LinkButton href={to(`/webhooks/${webhook}`)}>Open the webhook</LinkButton>
                  <LinkButton href={to(`/echo/${echo}`, { webhook })}>Open the receiver</LinkButton>
                </div>
              </div>
            </Card>
            <div class="columns">
              <Watched title="2. The source emits" id={source} />
              <Watched title="3. The receiver gets it" id={echo} />
            </div>
          </div>
        );
      }}
    </Loaded>
  );
}

/** Published as the source: another origin's endpoint may not be asked from this page. */
async function sendHello(id: string): Promise<void> {
  await headwater.publish(id, { event: { name: "world", sent_from: "dashboard" } });
}

function Watched({ title, id }: { title: string; id: string }) {
  const live = useLiveRows(id, ["emit", "error"]);
  return (
    <section class="card">
      <div class="card-head">
        <h2>{title}</h2>
        <LiveControls live={live} />
      </div>
      <Waiting live={live} />
      <NoRows live={live} />
      {live.stored.data !== undefined && live.rows.length === 0 && (
        <p class="card-body muted">Waiting for {nameOf(id) === id ? "it" : nameOf(id)} …</p>
      )}
      <ol class="events" aria-label={title}>
        {live.rows.map(row => (
          <EventRow key={row.id} row={row} />
        ))}
      </ol>
    </section>
  );
}

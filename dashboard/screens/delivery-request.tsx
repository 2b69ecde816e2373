import type { Schemas } from "../api/client";
import { isWebhook, nounOf } from "../api/listeners";
import { Card, Notice, Time } from "../ui/basics";
import { Payload } from "./payload";

type Detail = Schemas["DeliveryDetail"];

/** What each attempt sends, without what must stay secret. */
export function Request({ delivery }: { delivery: Detail }) {
  const { request, attempts } = delivery;
  return (
    <Card title="Request">
      <div class="stack tight">
        {request === null ? (
          <p class="muted">
            {isWebhook(delivery.webhook_id)
              ? "The webhook was deleted; its address is not kept."
              : `The ${nounOf(delivery.webhook_id).toLowerCase()} receives this event, with its ids:`}
          </p>
        ) : (
          <div class="stack tight">
            {attempts.some(one => one.at_ms < request.webhook_updated_at * 1000) && (
              <Notice>
                The webhook was changed <Time seconds={request.webhook_updated_at} />: attempts before may
                have gone to another address, with other custom headers.
              </Notice>
            )}
            <Head request={request} next={nextOf(delivery)} />
          </div>
        )}
        <Body delivery={delivery} />
      </div>
    </Card>
  );
}

/** The number of the attempt that will be made; null if there is none. */
const nextOf = ({ state, attempts_made }: Detail): number | null =>
  state === "pending" ? attempts_made + 1 : null;

const Head = ({ request, next }: { request: NonNullable<Detail["request"]>; next: number | null }) => (
  <section tabIndex={0} aria-label="Request" class="response">
    <pre>
      {[
        `${request.method} ${request.url}`,
        ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
        "webhook-timestamp: the second of the attempt",
        `x-headwater-attempt: ${next === null ? "the number of the attempt" : `${next} (the next one)`}`,
        ...request.secret_header_names.map(name => `${name}: (never shown)`),
      ].join("\n")}
    </pre>
  </section>
);

function Body({ delivery }: { delivery: Detail }) {
  if (!("event" in delivery)) {
    return <p class="muted">The event is no longer kept, so its data can't be shown or sent again.</p>;
  }
  const attributes = delivery.request?.cloud_event;
  const bodyOf = (data: unknown) => (attributes ? { ...attributes, data } : data);
  if (!("transformed_event" in delivery)) {
    return <Payload value={bodyOf(delivery.event)} of={delivery.event_id} />;
  }
  return (
    <>
      <Payload value={bodyOf(delivery.transformed_event)} of={delivery.id} />
      <details class="tried">
        <summary>The event before the subscription's function</summary>
        <Payload value={delivery.event} of={delivery.event_id} />
      </details>
    </>
  );
}

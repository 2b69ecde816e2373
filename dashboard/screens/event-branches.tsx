import type { Schemas } from "../api/client";
import { to } from "../lib/address";
import { counted, sentence, words } from "../lib/format";
import { Badge, Button, LinkButton, Time, type Tone } from "../ui/basics";
import { Thing } from "../ui/thing";
import { Attempts } from "./attempts";
import { DeliveryState } from "./delivery-parts";
import { Step } from "./event-step";

type Trace = Schemas["EventTrace"];
type Subscription = Trace["subscriptions"][number];
type Replay = (listenerId?: string) => Promise<void>;

/** A trace with more subscriptions is a list of lines, or the failed one would be a screen or ten away. */
const MOST_UNFOLDED = 4;

/** What became of the event at one subscription. */
interface Branch {
  subscription: Subscription;
  delivery: Trace["deliveries"][number] | undefined;
  listener: Trace["listeners"][number] | undefined;
}

const OUTCOMES: Record<string, [string, Tone]> = {
  matched: ["Matched", "good"],
  filtered: ["Filtered out", "warn"],
  "other-channel": ["Other channel", "none"],
  "created-later": ["Created later", "none"],
};

const outcomeOf = ({ outcome }: Subscription) => OUTCOMES[outcome] ?? ([outcome, "none"] as const);

/** Of a source or workflow that listens; what was taken by an engine, or left no record, may not have ended. */
const toneOfListener = (state: Trace["listeners"][number]["state"]): Tone =>
  state === "failed" ? "bad" : state === "finished" ? "good" : "warn";

const toneOf = ({ subscription, delivery, listener }: Branch): Tone => {
  const state = delivery?.state ?? listener?.state;
  if (state === "failed") return "bad";
  if (state === "pending" || state === "queued") return "warn";
  return delivery ? "good" : outcomeOf(subscription)[1];
};

/** Failures first, then what is under way, what arrived, and what did not match. */
const RANKS: Tone[] = ["bad", "warn", "info", "accent", "good", "none"];
const rankOf = (branch: Branch) =>
  branch.subscription.outcome === "matched" ? RANKS.indexOf(toneOf(branch)) : RANKS.length;

/** The subscriptions of an event's emitter, with what became of the event at each. */
export function Branches({ trace, replay }: { trace: Trace; replay: Replay }) {
  const branches = trace.subscriptions.map((subscription): Branch => {
    const { id } = subscription;
    return {
      subscription,
      delivery: trace.deliveries.find(one => one.subscription_id === id),
      listener: trace.listeners.find(one => one.subscription_id === id),
    };
  });
  branches.sort((a, b) => rankOf(a) - rankOf(b));
  const isFolded = branches.length > MOST_UNFOLDED;
  const matched = branches.filter(({ subscription }) => subscription.outcome === "matched");
  const others = branches.filter(({ subscription }) => subscription.outcome !== "matched");
  const shown = isFolded ? matched : branches;
  return (
    <>
      {shown.map(one => (
        <BranchStep key={one.subscription.id} branch={one} isFolded={isFolded} replay={replay} />
      ))}
      {isFolded && others.length > 0 && (
        <Step
          isFolded
          icon="route"
          tone="none"
          title={`${counted(others.length, "subscription")} did not match`}
          note=""
        >
          <ul class="stack tight">
            {others.map(({ subscription }) => (
              <li key={subscription.id} class="row">
                <OutcomeBadge subscription={subscription} />{" "}
                <Thing id={subscription.listener_id} name={subscription.listener_name} />
                {subscription.reason && <span class="muted">{sentence(subscription.reason)}.</span>}
              </li>
            ))}
          </ul>
        </Step>
      )}
    </>
  );
}

const OutcomeBadge = ({ subscription }: { subscription: Subscription }) => {
  const [text, tone] = outcomeOf(subscription);
  return <Badge tone={tone}>{text}</Badge>;
};

/** Why the last attempt failed, or why there is none, in a few words. */
const reasonOf = ({ subscription, delivery }: Branch): string | null => {
  const last = delivery?.attempts.at(-1);
  if (!delivery || !last) return delivery?.waiting_for ?? subscription.reason;
  if (delivery.state === "delivered") return null;
  return last.status === null ? last.error : `${last.status} ${last.response}`;
};

interface BranchStepProps {
  branch: Branch;
  isFolded: boolean;
  replay: Replay;
}

function BranchStep({ branch, isFolded, replay }: BranchStepProps) {
  const { subscription, delivery, listener } = branch;
  const { listener_id, listener_name } = subscription;
  const reason = reasonOf(branch);
  return (
    <Step
      isFolded={isFolded}
      icon={/^(wh|ds|ac|ms)_/.test(listener_id) ? "webhook" : "zap"}
      tone={toneOf(branch)}
      title={<Thing id={listener_id} name={listener_name} isPlain={isFolded} />}
      note={
        isFolded ? (
          <>
            {delivery && <DeliveryState state={delivery.state} />}
            {listener && <Badge tone={toneOfListener(listener.state)}>{words(listener.state)}</Badge>}
            {reason && <span class="reason">{reason}</span>}
          </>
        ) : (
          <span class="row">
            Subscription <code>{subscription.id}</code> <OutcomeBadge subscription={subscription} />
          </span>
        )
      }
      actions={
        <Button changes isSmall icon="refresh" onClick={() => replay(listener_id)}>
          Replay to this
        </Button>
      }
    >
      {isFolded && (
        <p>
          To <Thing id={listener_id} name={listener_name} />, by subscription <code>{subscription.id}</code>
        </p>
      )}
      {subscription.reason && <p class="muted">{sentence(subscription.reason)}.</p>}
      {delivery && (
        <>
          <div class="row">
            <DeliveryState state={delivery.state} />
            <LinkButton isSmall href={to(`/deliveries/${delivery.id}`)}>
              Delivery
            </LinkButton>
            {delivery.next_attempt_at_ms !== null && (
              <span class="muted">
                next attempt <Time ms={delivery.next_attempt_at_ms} />
              </span>
            )}
          </div>
          {delivery.waiting_for && <p class="muted">Waits for {delivery.waiting_for}.</p>}
          <Attempts attempts={delivery.attempts} listenerId={listener_id} />
        </>
      )}
      {listener && (
        <p class="row">
          <Badge tone={toneOfListener(listener.state)}>{words(listener.state)}</Badge>
          {listener.run && <a href={to(`/runs/${listener.run.id}`)}>{listener.run.id}</a>}
        </p>
      )}
    </Step>
  );
}

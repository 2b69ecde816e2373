import { type Static, Type } from "typebox";
import { OrNull } from "../lib/schemas.ts";
import { LIMITS } from "../limits/catalogue.ts";

const NameOrNull = OrNull(Type.String(), "Its name; null without one.");
const count = (description: string) => Type.Integer({ minimum: 0, description });
const most = LIMITS.queuesShown.value;
const counted = `Counted up to ${LIMITS.attentionCounted.value}.`;

const QueueOfListener = Type.Object({
  listener_id: Type.String({ description: "A webhook or destination." }),
  listener_name: NameOrNull,
  due: count(`Deliveries whose time has come, and that wait for their turn. ${counted}`),
  oldest_due_ms: OrNull(Type.Integer(), "Since when the first of them is due, Unix milliseconds."),
  retries: count(
    `Deliveries of which an attempt failed and that have another; some of them may be due. ${counted}`,
  ),
  oldest_retry_ms: OrNull(Type.Integer(), "When the first of them was created, Unix milliseconds."),
});

const QueueOfSource = Type.Object({
  source_id: Type.String(),
  source_name: Type.String(),
  waiting: count("Runs and changes that wait, or are being executed."),
  oldest_ms: OrNull(Type.Integer(), "When the first of them was triggered, Unix milliseconds."),
});

export const QueuesView = Type.Object(
  {
    totals: Type.Object({
      due: count("Deliveries whose time has come, of all webhooks and destinations."),
      retries: count("Deliveries that have another attempt after one that failed."),
      runs: count("Runs and changes, of all sources."),
      queued_bytes: count("Bytes of runs that wait; a short queue is not reported."),
      emission_bytes: count(
        "Bytes of emitted events that are on their way to be stored; small ones are not counted.",
      ),
      workflow_events: count(
        "Events that were handed to workflow engines; those they have taken since are among them.",
      ),
    }),
    deliveries: Type.Array(QueueOfListener, {
      description: `Webhooks and destinations of which deliveries wait, those first that have waited longest; at most ${most}.`,
    }),
    runs: Type.Array(QueueOfSource, {
      description: `Sources of which runs wait, those first that have waited longest; of more than ${most}, the ones with the longest queues.`,
    }),
  },
  { title: "Queues" },
);
export type QueuesView = Static<typeof QueuesView>;

export const exampleQueues: QueuesView = {
  totals: { due: 3, retries: 17, runs: 2, queued_bytes: 0, emission_bytes: 0, workflow_events: 0 },
  deliveries: [
    {
      listener_id: "wh_0CjBAEdF3kWq9RtZ",
      listener_name: "orders",
      due: 3,
      oldest_due_ms: 1_700_000_890_000,
      retries: 17,
      oldest_retry_ms: 1_700_000_000_000,
    },
  ],
  runs: [
    {
      source_id: "dc_0CjB9uPc7RfT1xLs",
      source_name: "hello",
      waiting: 2,
      oldest_ms: 1_700_000_899_000,
    },
  ],
};

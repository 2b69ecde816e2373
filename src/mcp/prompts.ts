import { isObject } from "../lib/json.ts";
import { RpcError } from "./protocol.ts";

interface PromptArgument {
  name: string;
  description: string;
  required: boolean;
}

/** What a person chooses in their host, and fills in: how to go about a task with the tools. */
interface Prompt {
  name: string;
  title: string;
  description: string;
  arguments: readonly PromptArgument[];
  text: (given: Readonly<Record<string, string>>) => string;
}

const ARGUMENT_CHARS = 2000;

const argument = (name: string, description: string, required = true): PromptArgument => ({
  name,
  description,
  required,
});

const READ_ONLY = "Change nothing: say what you found, with the ids, and what you would do.";

const PROMPTS: readonly Prompt[] = [
  {
    name: "why_not_arrived",
    title: "Why did my event not arrive?",
    description: "Follow an event from its source to a listener, and find where it ended.",
    arguments: [
      argument("source", "Id or name of the source or workflow."),
      argument("listener", "Id or name of the webhook or destination that should have got it.", false),
      argument("event", "Its id, or words of it; the newest without.", false),
    ],
    text: ({ source, listener, event }) =>
      `An event of ${quoted(source)} did not arrive${listener === undefined ? "" : ` at ${quoted(listener)}`}. ` +
      `${event === undefined ? "Take the newest that should have" : `The event: ${quoted(event)}`}. Find where it ended:
1. get_source: is it active, and what did it drop? list_runs with outcome=error and list_errors: did its code fail before it emitted?
2. list_events, or search for the words: was it emitted, and on which channel?
3. get_event with its emitter_id: which subscriptions matched, and why did the others not? Without a subscription that fits, that is the cause; test_filter shows what a filter needs.
4. If a delivery was made: get_delivery, its attempts and what the receiver responded. If it waits: get_queues and get_webhook say for what.
${READ_ONLY}`,
  },
  {
    name: "debug_delivery",
    title: "Why does this delivery fail?",
    description:
      "Read a delivery's attempts, and find out whether its receiver, the event or a setting is the cause.",
    arguments: [
      argument("delivery", "Id of the delivery (`dlv_…`), which is the webhook-id of its requests."),
    ],
    text: ({ delivery }) => `Find out why the delivery ${quoted(delivery)} fails or waits:
1. get_delivery: each attempt's status, error and response, and when the next is due.
2. get_webhook or get_destination of its webhook_id: since when it fails, and whether it is disabled.
3. search_deliveries of that webhook_id with state=failed, or list_issues: does every delivery fail so, or only this one? One that fails alone points at its event.
read_doc troubleshooting has the usual causes. ${READ_ONLY}`,
  },
  {
    name: "what_is_wrong",
    title: "What needs me?",
    description: "Look through the account for what fails, is disabled or waits, the worst first.",
    arguments: [],
    text: () => `Look through the account for what needs somebody:
1. get_attention: what fails, is disabled or waits, and since when.
2. For each: list_issues, list_errors or get_delivery for the cause, and get_stats for how much it is.
3. list_alerts: what was said of it before.
Begin with what loses events. ${READ_ONLY}`,
  },
  {
    name: "write_component",
    title: "Write a component",
    description: "Write the code of a source that emits what you describe, and check it.",
    arguments: [argument("what", "Which events it is to emit, and where from.")],
    text: ({ what }) => `Write a component for Headwater that does this: ${quoted(what)}
1. search_gallery: if a ready-made component does it, name that one and stop.
2. read_doc component-api, and get_component of one that is alike in list_components.
3. Write it: props for what differs between deployments, an \`app\` prop or \`secret: true\` for credentials and none of them in the code, an id for each event so that none is emitted twice, and a schedule no tighter than it needs.
4. check_component, and repair what it finds.
Show the code, and say which props and connections it needs. Deploy it only when you are asked to.`,
  },
];

/** As one line in quotation marks: what a person wrote is told apart from the task. */
const quoted = (text = ""): string => JSON.stringify(text);

/** Prompts as `prompts/list` shows them. */
export const SHOWN_PROMPTS = PROMPTS.map(({ text: _, ...shown }) => shown);

/** Returns a prompt with its arguments filled in. Throws RpcError for one that is not there, and for arguments that it does not have. */
export function promptOf(name: string, given: unknown): object {
  const prompt = PROMPTS.find(one => one.name === name);
  if (!prompt) throw invalid("there is no prompt with this name: prompts/list has their names");
  const filled = checked(prompt, given ?? {});
  const text = prompt.text(filled);
  return {
    description: prompt.description,
    messages: [{ role: "user", content: { type: "text", text } }],
  };
}

function checked({ arguments: known }: Prompt, given: unknown): Record<string, string> {
  if (!isObject(given)) throw invalid("params.arguments must be an object");
  for (const [name, value] of Object.entries(given)) {
    if (!known.some(one => one.name === name))
      throw invalid("the prompt has no argument of a name that is given");
    if (typeof value !== "string" || value.length > ARGUMENT_CHARS) {
      throw invalid(`${name} must be a string of at most ${ARGUMENT_CHARS} characters`);
    }
  }
  const filled = given as Record<string, string>;
  // An empty field of a form is one that was left out.
  const entries = Object.entries(filled).filter(([, value]) => value.trim() !== "");
  const present = Object.fromEntries(entries);
  const missing = known.find(({ name, required }) => required && present[name] === undefined);
  if (missing) throw invalid(`${missing.name} is required`);
  return present;
}

const invalid = (message: string) => new RpcError("invalidParams", message);

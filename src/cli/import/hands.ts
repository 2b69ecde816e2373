/** What an import can't do, in the order of the report, with what the report says of each kind. */
export const KINDS_OF_HANDS = {
  secret: "Secrets, which no server shows. Set these variables in the environment of `headwater apply`",
  connection: "Accounts of apps. Each needs its `fields` in the file, or a person's consent",
  address:
    "Addresses that change. Give the new one, which `headwater source show` prints, to what sends there",
  signing:
    "Signing keys, which change. Give the new ones, which `headwater apply --show-keys` prints, to the receivers",
  memory: "What sources remember, which stays where it is: they begin with an empty `$.service.db`",
  source: "Sources and actions that are not in the file",
  prop: "Values that are not in the file",
  subscription: "Subscriptions that are not in the file",
  workflow: "Workflows. What runs in them is not imported",
  other: "What else the other server has",
} as const;

export type HandKind = keyof typeof KINDS_OF_HANDS;

/** One thing that a person has to do, or to know. */
export interface Hand {
  kind: HandKind;
  /** As the file calls it, or its id. */
  thing: string;
  /** What it is about. */
  text: string;
}

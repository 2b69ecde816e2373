import type { NodeBinary } from "../node-binary.ts";
import type { Side } from "../side.ts";
import type { Stores } from "../stores.ts";

/** Another product that runs a user's code on each event, as it is started for one measurement. */
export interface RunningPeer extends Side {
  stop(): Promise<void>;
}

export interface PeerOptions {
  /** Where npm installed it. */
  folder: string;
  /** Runs it: both products need a newer Node than Headwater. */
  node: NodeBinary;
  stores: Stores;
  /** Where the events go. */
  receiverUrl: string;
  senders: number;
  logFile: string;
}

/** A product, and how it is measured: HTTP in, a function that adds one field to the event, and a POST. */
export interface Peer {
  /** The npm package, which is installed in exactly this version. */
  packageName: string;
  version: string;
  /** What its row is called: the product, and the form in which it runs. */
  title: string;
  /** What a user has to know before waiting for the installation. */
  size: string;
  /** Installs what npm does not have. Throws PeerUnavailable. */
  prepare?(root: string): Promise<void>;
  /** Starts it with a new folder, and resolves once an event has gone through. */
  start(options: PeerOptions): Promise<RunningPeer>;
}

/** A product can't be measured here; the message is one line that says why. */
export class PeerUnavailable extends Error {}

/** The code of the user, which each product calls with the event: one field is added. */
export const withField = (event: string): string => `{ ...${event}, peer: true }`;

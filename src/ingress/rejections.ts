import { raiseAlert } from "../alerts/raise.ts";
import { isId } from "../lib/ids.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Connection } from "../models/connection.ts";
import type { Source } from "../models/source.ts";
import type { Observed, Stores } from "../platform.ts";
import { addRejections, type Noted, type Rejection } from "../store/rejections.ts";
import { hintFor } from "../verify/hints.ts";
import type { RejectReason } from "../verify/reasons.ts";
import type { SignedRequest } from "../verify/request-values.ts";
import type { Verifying } from "./verification.ts";

type Deps = Stores & Observed;
/** What rejects requests: a source, or a connection, of whose endpoint a list is all that is shown. */
export type Rejecting = Pick<Source | Connection, "_id" | "owner_id" | "name">;

/** What is seen of a flood costs one write a second for each source. */
const WRITE_MS = 1000;
/** So often, a source that rejects nothing is known to verify. */
const VERIFIED_MS = 60_000;
/** Sources whose notes wait to be written, while Redis is away too; beyond it nothing new is noted. */
const MAX_SOURCES = 5000;
const KEPT = LIMITS.rejectionsKept.value;
const MAX_HEADERS = 40;
const HEADER_CHARS = 64;
/** A hint is looked for once a second for a source, in bodies of at most this size. */
const HINT_BYTES = LIMITS.verifyReadBytes.value;

/** What is noted of a subject, until it is written. */
interface Note extends Noted {
  subject: Rejecting;
}

/** A request that was not verified. */
interface Rejected {
  subject: Rejecting;
  verification: Verifying;
  request: SignedRequest;
  reason: RejectReason;
  clientIp: string;
}

/**
 * What this process sees of requests that were not verified, noted in memory and written in batches: no request waits for it, or costs
 * a round trip. At most a second of it is lost with the process.
 */
export class RejectionNotes {
  readonly #platform: Deps;
  #notes = new Map<string, Note>();
  /** Source → when it was last noted that it verifies. */
  readonly #verified = new Map<string, number>();
  /** Source → the beginning of the episode that its owner knows of. */
  readonly #alerted = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(platform: Deps) {
    this.#platform = platform;
  }

  /** Notes a request that was rejected, or would have been. */
  rejected({ subject, verification, request, reason, clientIp }: Rejected): void {
    const { clock, metrics } = this.#platform;
    metrics.count("ingress_rejected_total", { reason });
    this.#verified.delete(subject._id);
    const note = this.#noteOf(subject);
    if (!note) return;
    note.counts.set(reason, (note.counts.get(reason) ?? 0) + 1);
    const isFirst = note.last.length === 0;
    const hint = isFirst ? this.#hintOf(verification, request, reason) : null;
    const rejection: Rejection = {
      at_ms: clock(),
      ...{ reason, hint, method: request.method, client_ip: clientIp },
      headers: Object.keys(request.headers)
        .slice(0, MAX_HEADERS)
        .map(name => name.slice(0, HEADER_CHARS)),
      body_bytes: request.body.length,
      reported: verification.isReporting,
    };
    // The first has the hint; beside it the newest.
    if (note.last.length >= KEPT) note.last.splice(1, 1);
    note.last.push(rejection);
  }

  /** Notes that a request was verified, which ends an episode of rejections in whatever process they were. */
  verified(subject: Rejecting): void {
    const now = this.#platform.clock();
    if (now - (this.#verified.get(subject._id) ?? 0) < VERIFIED_MS) return;
    if (this.#verified.size >= MAX_SOURCES) this.#verified.clear();
    const note = this.#noteOf(subject);
    if (!note) return;
    note.verifiedAtMs = now;
    this.#verified.set(subject._id, now);
  }

  #hintOf({ choice, secrets }: Verifying, request: SignedRequest, reason: RejectReason): string | null {
    const mayMatch = reason === "mismatch" || reason === "malformed";
    if (!mayMatch || request.body.length > HINT_BYTES) return null;
    return hintFor(choice, secrets, request, this.#platform.clock());
  }

  #noteOf(subject: Rejecting): Note | undefined {
    const known = this.#notes.get(subject._id);
    if (known || this.#notes.size >= MAX_SOURCES) return known;
    const note: Note = { subject, counts: new Map(), last: [], verifiedAtMs: null };
    this.#notes.set(subject._id, note);
    this.#timer ??= setTimeout(() => void this.write(), WRITE_MS).unref();
    return note;
  }

  /** Writes what is noted, and alerts the owners of sources that have rejected everything for a while. Never throws. */
  async write(): Promise<void> {
    this.#timer = undefined;
    const notes = [...this.#notes.values()];
    this.#notes = new Map();
    await Promise.all(
      notes.map(async note => {
        try {
          const sinceMs = await addRejections(this.#platform, note.subject._id, note);
          if (sinceMs !== null) await this.#alert(note, sinceMs);
        } catch (err) {
          // The next that is verified ends the episode, and not one a minute later.
          this.#verified.delete(note.subject._id);
          this.#platform.log.warn({ subject_id: note.subject._id, err }, "rejected requests were not noted");
        }
      }),
    );
  }

  async #alert({ subject, last }: Note, sinceMs: number): Promise<void> {
    const newest = last.at(-1);
    if (!isId("dc", subject._id) || !newest || newest.reported) return;
    if (newest.at_ms - sinceMs < LIMITS.rejectingMs.value) return;
    if (this.#alerted.get(subject._id) === sinceMs) return;
    const since = new Date(sinceMs).toISOString();
    await raiseAlert(this.#platform, {
      ownerId: subject.owner_id,
      type: "source.rejecting",
      subject: { id: subject._id, name: subject.name },
      sinceMs,
      message: `every request for source "${subject.name}" (${subject._id}) was rejected since ${since}: ${newest.reason}`,
      details: { failing_since_ms: sinceMs, reason: newest.reason },
    });
    if (this.#alerted.size >= MAX_SOURCES) this.#alerted.clear();
    this.#alerted.set(subject._id, sinceMs);
  }
}

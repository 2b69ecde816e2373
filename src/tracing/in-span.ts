import { AppError } from "../lib/errors.ts";
import type { Span, SpanAttributes } from "./span.ts";

/** Does `work`, and ends its span, if there is one, when it has ended. Throws what `work` throws. */
export async function inSpan<T>(
  { clock }: { clock: () => number },
  span: Span | undefined,
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> {
  if (!span) return await work();
  try {
    const result = await work();
    span.end(attributes, clock());
    return result;
  } catch (error) {
    span.end(attributes, clock(), errorTypeOf(error));
    throw error;
  }
}

/** The code of an expected error: any other message may hold what a span must not. */
const errorTypeOf = (error: unknown): string => (error instanceof AppError ? error.code : "internal");

/**
 * How a webhook's requests have an event: as its JSON, or as a CloudEvent in the structured or the binary mode
 * (docs/guides/cloudevents.md).
 */
export const BODY_FORMATS = ["json", "cloudevents", "cloudevents-binary"] as const;
export type BodyFormat = (typeof BODY_FORMATS)[number];

// Read inside sandboxes too, which must not load the whole catalogue.

/** Most characters (code points) of a channel's name. */
export const CHANNEL_CHARS = 128;
/** Most characters of an event's id that is text. */
export const EMIT_ID_CHARS = 16 * 1024;

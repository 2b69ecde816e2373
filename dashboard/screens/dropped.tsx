import { later } from "../ui/later";

const DroppedReasons = later(async () => (await import("./more")).DroppedReasons);

/** What did not go its way; nothing while there is none. */
export const Dropped = ({ dropped }: { dropped: Record<string, number> }) =>
  Object.values(dropped).some(number => number > 0) ? <DroppedReasons dropped={dropped} /> : null;

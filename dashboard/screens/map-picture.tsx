import { useLocation } from "preact-iso/router";
import { to } from "../lib/address";
import { counted } from "../lib/format";
import { type Box, kindOf, type Neighbour } from "../lib/neighbours";

/** How many of a kind are called. */
const NOUNS: Record<string, string> = {
  dc: "source",
  p: "workflow",
  wh: "webhook",
  ds: "destination",
  ac: "action",
  u: "account",
  o: "organization",
};
export const countedKind = (count: number, kind: string): string => counted(count, NOUNS[kind] ?? "thing");
export const nounOf = (kind: string): string => NOUNS[kind] ?? "thing";

const WIDTH = 1000;
const BOX = { width: 260, height: 40 };
const STEP = 52;
const TOP = 16;
const MOST_CHARS = 30;

const short = (text: string) => (text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS - 1)}…` : text);

export type Side = "from" | "to";

interface PictureProps {
  node: { id: string; name: string };
  /** What it listens to, and what listens to it. */
  sides: Record<Side, Box[]>;
  /** Ids that need somebody. */
  troubled: ReadonlySet<string>;
  /** The address at which a group is open, or folded again. */
  toggled: (side: Side, kind: string) => string;
  /** The address of the list with all of a side. */
  allOf: (side: Side) => string;
}

/** A thing with what it listens to at its left, and what listens to it at its right. Each leads to its own map. */
export function MapPicture({ node, sides, troubled, toggled, allOf }: PictureProps) {
  const rows = Math.max(1, sides.from.length, sides.to.length);
  const height = 2 * TOP + rows * STEP;
  const middle = height / 2;
  const center = (WIDTH - BOX.width) / 2;
  const yOf = (side: Side, i: number) => middle + (i - (sides[side].length - 1) / 2) * STEP;
  const place = { from: 0, to: WIDTH - BOX.width };
  return (
    <svg class="map" viewBox={`0 0 ${WIDTH} ${height}`}>
      <title>{`What ${node.name} is connected to; the table below says the same`}</title>
      {(["from", "to"] as const).map(side =>
        sides[side].map((box, i) => (
          <path
            key={`${side}${i}`}
            d={curve(side, yOf(side, i), middle)}
            fill="none"
            stroke="var(--line-strong)"
            stroke-width="2"
            // What carries only some of the events.
            stroke-dasharray={isFiltered(box) ? "6 5" : undefined}
          />
        )),
      )}
      <Rect x={center} y={middle} isChosen isTroubled={troubled.has(node.id)}>
        {short(node.name)}
      </Rect>
      {(["from", "to"] as const).map(side =>
        sides[side].map((box, i) => (
          <BoxLink
            key={keyOf(box)}
            box={box}
            x={place[side]}
            y={yOf(side, i)}
            troubled={troubled}
            address={
              box.type === "thing"
                ? to("/map", { node: box.neighbour.id })
                : box.type === "group"
                  ? toggled(side, box.kind)
                  : allOf(side)
            }
          />
        )),
      )}
    </svg>
  );
}

const keyOf = (box: Box) => (box.type === "thing" ? box.neighbour.id : `${box.type} ${box.kind}`);

const isFiltered = (box: Box) =>
  box.type === "thing" && box.neighbour.links.every(({ filter }) => filter !== undefined && filter !== null);

function curve(side: Side, y: number, middle: number): string {
  const [from, to] =
    side === "from" ? [BOX.width, (WIDTH - BOX.width) / 2] : [(WIDTH + BOX.width) / 2, WIDTH - BOX.width];
  const bend = (from + to) / 2;
  const [start, end] = side === "from" ? [y, middle] : [middle, y];
  return `M${from} ${start}C${bend} ${start} ${bend} ${end} ${to} ${end}`;
}

interface BoxLinkProps {
  box: Box;
  x: number;
  y: number;
  troubled: ReadonlySet<string>;
  address: string;
}

function BoxLink({ box, x, y, troubled, address }: BoxLinkProps) {
  const { route } = useLocation();
  return (
    <a
      href={address}
      // The router takes links of HTML only.
      onClick={event => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        route(address);
      }}
    >
      <title>{titleOf(box)}</title>
      <Rect
        x={x}
        y={y}
        isGroup={box.type !== "thing"}
        isTroubled={box.type === "thing" && troubled.has(box.neighbour.id)}
      >
        {short(textOf(box))}
      </Rect>
    </a>
  );
}

const nameOf = ({ id, name }: Neighbour) => (id.endsWith("*") ? `All ${nounOf(kindOf(id))}s` : (name ?? id));

function textOf(box: Box): string {
  if (box.type === "thing") return nameOf(box.neighbour);
  if (box.type === "rest") return `${box.count} more`;
  return `${box.isOpen ? "▾" : "▸"} ${countedKind(box.count, box.kind)}`;
}

function titleOf(box: Box): string {
  if (box.type === "group") return `${box.isOpen ? "Fold" : "Show"} ${countedKind(box.count, box.kind)}`;
  if (box.type === "rest") return `${box.count} more ${nounOf(box.kind)}s, in the list`;
  const { id, links } = box.neighbour;
  const channels = [...new Set(links.map(({ event_name }) => event_name || "default"))].join(", ");
  return `${nameOf(box.neighbour)} (${nounOf(kindOf(id))}), channel ${channels}`;
}

interface RectProps {
  x: number;
  /** Of its middle. */
  y: number;
  isChosen?: boolean;
  isGroup?: boolean;
  isTroubled?: boolean;
  children: string;
}

const Rect = ({ x, y, isChosen = false, isGroup = false, isTroubled = false, children }: RectProps) => (
  <>
    <rect
      x={x + 1}
      y={y - BOX.height / 2}
      width={BOX.width - 2}
      height={BOX.height}
      rx="9"
      fill={isChosen ? "var(--accent-soft)" : isGroup ? "var(--sunken)" : "var(--raised)"}
      stroke={isTroubled ? "var(--bad)" : isChosen ? "var(--accent)" : "var(--line-strong)"}
      stroke-width={isTroubled || isChosen ? 2 : 1}
    />
    <text x={x + 14} y={y + 5} fill={isTroubled ? "var(--bad)" : "var(--text)"} font-size="14">
      {isTroubled ? `! ${children}` : children}
    </text>
  </>
);

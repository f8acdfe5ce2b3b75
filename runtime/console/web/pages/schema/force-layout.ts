import type { Placed, PlacedBox, PlacedEdge, Point, Box, Edge } from './graph-model.ts';

const ROUNDS = 300;
/** Room around a box. */
const MARGIN = { x: 20, y: 22 };
/** The distance between boxes, as a multiple of an average box. */
const SPREAD = 0.55;

/**
 * A box while it moves. Its centre is measured in average boxes, so that both directions count
 * alike.
 */
interface Body {
  readonly box: Box;
  x: number;
  y: number;
  dx: number;
  dy: number;
}

/**
 * Places many connected boxes near those that they have lines to, without layers (Fruchterman and
 * Reingold, 1991): a graph with hubs is then about round, where layers would be very wide. The same
 * boxes have the same places each time.
 */
export function forceLayout(boxes: readonly Box[], edges: readonly Edge[]): Placed {
  const unit = averageBox(boxes);
  const bodies = begin(boxes, edges);
  const places = new Map(bodies.map((body) => [body.box.name, body]));
  const springs = edges
    .filter(({ from, to }) => from !== to)
    .map(({ from, to }) => [places.get(from)!, places.get(to)!] as const);
  for (let round = 0; round < ROUNDS; round += 1) {
    repel(bodies);
    attract(springs);
    move(bodies, Math.sqrt(bodies.length) * 0.5 * (1 - round / ROUNDS) ** 1.5 + 0.01);
  }
  const placed = bodies.map(({ box, x, y }) => ({
    ...box,
    x: x * unit.x - box.width / 2,
    y: y * unit.y - box.height / 2,
  }));
  return drawn(separated(placed), edges);
}

function averageBox(boxes: readonly Box[]): Point {
  const sum = (of: (box: Box) => number) =>
    boxes.reduce((total, box) => total + of(box), 0) / boxes.length;
  return { x: sum(({ width }) => width) + MARGIN.x, y: sum(({ height }) => height) + MARGIN.y };
}

/** Places the boxes on a spiral at first. Those with the most lines are in the middle. */
function begin(boxes: readonly Box[], edges: readonly Edge[]): Body[] {
  const counts = new Map<string, number>();
  for (const name of edges.flatMap(({ from, to }) => [from, to]))
    counts.set(name, (counts.get(name) ?? 0) + 1);
  const count = ({ name }: Box) => counts.get(name) ?? 0;
  return boxes
    .toSorted((a, b) => count(b) - count(a))
    .map((box, index) => {
      const [radius, angle] = [SPREAD * Math.sqrt(index), index * 2.399_963];
      return { box, x: radius * Math.cos(angle), y: radius * Math.sin(angle), dx: 0, dy: 0 };
    });
}

function repel(bodies: readonly Body[]): void {
  for (const [index, a] of bodies.entries())
    for (let other = index + 1; other < bodies.length; other += 1) {
      const b = bodies[other]!;
      const [x, y] = [a.x - b.x || 0.001, a.y - b.y || 0.001];
      const force = (SPREAD * SPREAD) / (x * x + y * y);
      a.dx += x * force;
      a.dy += y * force;
      b.dx -= x * force;
      b.dy -= y * force;
    }
}

function attract(springs: readonly (readonly [Body, Body])[]): void {
  for (const [a, b] of springs) {
    const [x, y] = [a.x - b.x, a.y - b.y];
    const force = Math.hypot(x, y) / SPREAD / 2.2;
    a.dx -= x * force;
    a.dy -= y * force;
    b.dx += x * force;
    b.dy += y * force;
  }
}

/**
 * Moves each box by its forces, at most as far as `heat` allows, and a little towards the centre.
 */
function move(bodies: readonly Body[], heat: number): void {
  for (const body of bodies) {
    const [x, y] = [body.dx - body.x * 0.12, body.dy - body.y * 0.12];
    const length = Math.hypot(x, y) || 1;
    const step = Math.min(length, heat) / length;
    body.x += x * step;
    body.y += y * step;
    body.dx = 0;
    body.dy = 0;
  }
}

type Movable = { -readonly [Key in keyof PlacedBox]: PlacedBox[Key] };

/** Pushes overlapping boxes apart, in the direction in which they overlap less. */
function separated(boxes: Movable[]): Movable[] {
  for (let round = 0, moved = true; moved && round < 400; round += 1) {
    moved = false;
    for (const [index, a] of boxes.entries())
      for (let other = index + 1; other < boxes.length; other += 1)
        moved = pushApart(a, boxes[other]!) || moved;
  }
  return boxes;
}

function pushApart(a: Movable, b: Movable): boolean {
  const [x, y] = [b.x + b.width / 2 - a.x - a.width / 2, b.y + b.height / 2 - a.y - a.height / 2];
  const overX = (a.width + b.width) / 2 + MARGIN.x - Math.abs(x);
  const overY = (a.height + b.height) / 2 + MARGIN.y - Math.abs(y);
  if (overX <= 0.01 || overY <= 0.01) return false;
  if (overX < overY) {
    const step = ((x < 0 ? -1 : 1) * overX) / 2;
    a.x -= step;
    b.x += step;
  } else {
    const step = ((y < 0 ? -1 : 1) * overY) / 2;
    a.y -= step;
    b.y += step;
  }
  return true;
}

/** Shifts the drawing to begin at 0, and lets lines begin and end at the edges of boxes. */
function drawn(boxes: readonly PlacedBox[], edges: readonly Edge[]): Placed {
  const left = Math.min(...boxes.map(({ x }) => x));
  const top = Math.min(...boxes.map(({ y }) => y));
  const placed = boxes.map((box) => ({ ...box, x: box.x - left, y: box.y - top }));
  const byName = new Map(placed.map((box) => [box.name, box]));
  const seen = new Map<string, number>();
  const lines = edges.map((edge): PlacedEdge => {
    const pair = [edge.from, edge.to].toSorted().join(' ');
    const earlier = seen.get(pair) ?? 0;
    seen.set(pair, earlier + 1);
    const [a, b] = [byName.get(edge.from)!, byName.get(edge.to)!];
    return { ...edge, points: a === b ? loop(a) : lineBetween(a, b, earlier) };
  });
  return {
    boxes: placed,
    edges: lines,
    width: Math.max(...placed.map(({ x, width }) => x + width)),
    height: Math.max(...placed.map(({ y, height }) => y + height)),
  };
}

/** A line of a type to itself, at its right. */
const loop = ({ x, y, width, height }: PlacedBox): Point[] => [
  { x: x + width, y: y + height * 0.3 },
  { x: x + width + 24, y: y + height / 2 },
  { x: x + width, y: y + height * 0.7 },
];

/** Further lines between the same two types are bent. */
function lineBetween(a: PlacedBox, b: PlacedBox, earlier: number): Point[] {
  const [from, to] = [middle(a), middle(b)];
  if (earlier === 0) return [border(a, to), border(b, from)];
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const away = (earlier % 2 === 0 ? -1 : 1) * Math.ceil(earlier / 2) * 26;
  const bend = {
    x: (from.x + to.x) / 2 - ((to.y - from.y) / length) * away,
    y: (from.y + to.y) / 2 + ((to.x - from.x) / length) * away,
  };
  return [border(a, bend), bend, border(b, bend)];
}

const middle = ({ x, y, width, height }: PlacedBox): Point => ({
  x: x + width / 2,
  y: y + height / 2,
});

/** Where the line from the middle of a box to a point leaves the box. */
function border(box: PlacedBox, to: Point): Point {
  const from = middle(box);
  const [x, y] = [to.x - from.x, to.y - from.y];
  const scale = Math.min(
    box.width / 2 / (Math.abs(x) || 0.001),
    box.height / 2 / (Math.abs(y) || 0.001),
  );
  return { x: from.x + x * scale, y: from.y + y * scale };
}

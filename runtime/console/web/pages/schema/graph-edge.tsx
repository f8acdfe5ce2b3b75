import type { PlacedEdge, Point } from './placed.ts';
import type { End } from './graph-model.ts';

/** The ends of lines: one row, or many (a crow's foot). */
export function Markers() {
  return (
    <defs>
      <LineEnd id="graph-many" path="M1 6L11 1M1 6H11M1 6L11 11" />
      <LineEnd id="graph-one" path="M4 1V11M1 6H11" />
    </defs>
  );
}

function LineEnd({ id, path }: { id: string; path: string }) {
  return (
    <marker
      id={id}
      class="graph-end"
      viewBox="0 0 12 12"
      refX="11"
      refY="6"
      markerWidth="12"
      markerHeight="12"
      markerUnits="userSpaceOnUse"
      orient="auto-start-reverse"
    >
      <path d={path} />
    </marker>
  );
}

const MARKERS: Readonly<Record<End, string | undefined>> = {
  one: 'url(#graph-one)',
  many: 'url(#graph-many)',
  none: undefined,
};

/** A line between two types. Its title names the fields. */
export function GraphEdge({ edge, lit }: { edge: PlacedEdge; lit: boolean }) {
  const { points, label, fromEnd, toEnd } = edge;
  const plain = fromEnd === 'none' && toEnd === 'none';
  return (
    <path
      class={`graph-edge${plain ? ' plain' : ''}${lit ? ' lit' : ''}`}
      d={curve(points)}
      marker-start={MARKERS[fromEnd]}
      marker-end={MARKERS[toEnd]}
    >
      <title>{label}</title>
    </path>
  );
}

const text = ({ x, y }: Point) => `${x.toFixed(1)} ${y.toFixed(1)}`;
const between = (a: Point, b: Point): Point => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });

/** A smooth line whose bends are at the points of the layout. */
function curve(points: readonly Point[]): string {
  const [first, ...rest] = points;
  const last = points.at(-1);
  if (!first || !last) return '';
  const bends = rest.slice(0, -1);
  const pieces = bends.map((bend, index) => {
    const next = bends[index + 1];
    return `Q${text(bend)} ${text(next ? between(bend, next) : last)}`;
  });
  return `M${text(first)}${pieces.length > 0 ? pieces.join('') : `L${text(last)}`}`;
}

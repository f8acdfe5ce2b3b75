import { Graph, layout } from '@dagrejs/dagre';
import { forceLayout } from './force-layout.ts';
import type { Box, Edge, GraphModel, Placed, PlacedBox, PlacedEdge, Point } from './graph-model.ts';

const GAP = 36;
/** With more types than this, layers are too wide to be read. */
const LAYERED = 40;

/**
 * Places each connected part of the graph, then the parts beside each other. A small part is laid
 * out in layers (dagre), in the direction that fits the window's shape better; a large one by
 * forces.
 *
 * @param shape width by height of the window
 */
export function layoutOf({ boxes, edges, detailed }: GraphModel, shape: number): Placed {
  const parts = partsOf(boxes, edges).map((part) => placed(part, detailed, shape));
  return packed(
    parts.toSorted((a, b) => b.height - a.height || b.width - a.width),
    shape,
  );
}

interface Part {
  readonly boxes: readonly Box[];
  readonly edges: readonly Edge[];
}

/** The connected parts of a graph. */
function partsOf(boxes: readonly Box[], edges: readonly Edge[]): Part[] {
  const near = new Map<string, string[]>(boxes.map(({ name }) => [name, []]));
  for (const { from, to } of edges) {
    near.get(from)!.push(to);
    near.get(to)!.push(from);
  }
  const part = new Map<string, number>();
  let count = 0;
  for (const { name } of boxes) {
    if (part.has(name)) continue;
    for (const queue = [name]; queue.length > 0;) {
      const next = queue.pop()!;
      if (part.has(next)) continue;
      part.set(next, count);
      queue.push(...near.get(next)!);
    }
    count += 1;
  }
  return Array.from({ length: count }, (_, index) => ({
    boxes: boxes.filter(({ name }) => part.get(name) === index),
    edges: edges.filter(({ from }) => part.get(from) === index),
  }));
}

function placed(part: Part, detailed: boolean, shape: number): Placed {
  if (part.boxes.length > LAYERED) return forceLayout(part.boxes, part.edges);
  const both = (['LR', 'TB'] as const).map((direction) => layered(part, direction, detailed));
  const distance = ({ width, height }: Placed) => Math.abs(Math.log(width / height / shape));
  return both.toSorted((a, b) => distance(a) - distance(b))[0]!;
}

function layered(part: Part, rankdir: 'LR' | 'TB', detailed: boolean): Placed {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({
    rankdir,
    nodesep: detailed ? 28 : 14,
    ranksep: detailed ? 70 : 56,
    edgesep: 12,
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { name, width, height } of part.boxes) graph.setNode(name, { width, height });
  for (const [index, { from, to }] of part.edges.entries())
    graph.setEdge(from, to, {}, String(index));
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    boxes: part.boxes.map((box) => {
      const { x, y } = graph.node(box.name) as Point;
      return { ...box, x: x - box.width / 2, y: y - box.height / 2 };
    }),
    edges: part.edges.map((edge, index) => ({
      ...edge,
      points: (graph.edge(edge.from, edge.to, String(index)) as { points: Point[] }).points,
    })),
    width,
    height,
  };
}

/** Arranges the parts in rows, so that the whole has about the given shape. */
function packed(parts: readonly Placed[], shape: number): Placed {
  const area = parts.reduce((sum, { width, height }) => sum + (width + GAP) * (height + GAP), 0);
  const widest = Math.max(Math.sqrt(area * shape), ...parts.map(({ width }) => width));
  const boxes: PlacedBox[] = [];
  const edges: PlacedEdge[] = [];
  let [x, y, row, width] = [0, 0, 0, 0];
  for (const part of parts) {
    if (x > 0 && x + part.width > widest) [x, y, row] = [0, y + row + GAP, 0];
    boxes.push(...part.boxes.map((box) => ({ ...box, x: box.x + x, y: box.y + y })));
    edges.push(...part.edges.map((edge) => ({ ...edge, points: moved(edge.points, x, y) })));
    x += part.width + GAP;
    width = Math.max(width, x - GAP);
    row = Math.max(row, part.height);
  }
  return { boxes, edges, width, height: y + row };
}

const moved = (points: readonly Point[], x: number, y: number): Point[] =>
  points.map((point) => ({ x: point.x + x, y: point.y + y }));

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { query } from '../../address.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { Panel } from '../../parts/page.tsx';
import type { DescribedType } from '../../../flows/schema.ts';
import { GraphBox, linkOfType } from './graph-box.tsx';
import { layoutOf } from './graph-layout.ts';
import {
  graphOf,
  type End,
  type Placed,
  type PlacedBox,
  type PlacedEdge,
  type Point,
} from './graph-model.ts';
import { useView, type Viewed } from './use-view.ts';

/** How far an arrow key moves the drawing, in pixels. */
const STEP = 60;
const ZOOM = 1.25;

/** The model as a diagram: types with their fields, and lines for their relations. */
export function ModelGraph({ types }: { types: readonly DescribedType[] }) {
  const placed = useMemo(() => layoutOf(graphOf(types), shapeOfWindow()), [types]);
  const chosen = query.value.get('type');
  const middle = useMemo(() => middleOf(placed, chosen), [placed]);
  const viewed = useView(placed, middle);
  const [pointed, setPointed] = useState<string | null>(null);
  useEffect(() => {
    const box = placed.boxes.find(({ name }) => name === chosen);
    if (box) viewed.reveal(box);
  }, [chosen, placed]);
  return (
    <Panel name={t('Model')} tools={<ViewButtons viewed={viewed} />}>
      <Drawing {...{ placed, viewed, lit: pointed ?? chosen, setPointed }} />
      <p class="quiet graph-hint">
        {t('Drag or use the arrow keys to move, the wheel or + and - to zoom, 0 to see all.')}
      </p>
    </Panel>
  );
}

/** About the width by the height that the drawing has on this screen, as its styles say. */
const shapeOfWindow = () =>
  Math.min(1100, innerWidth - 40) / Math.min(900, Math.max(320, innerHeight * 0.62));

/** The middle of the chosen type, or of the one with the most lines. */
function middleOf({ boxes, edges }: Placed, chosen: string | null) {
  const count = (name: string) =>
    edges.filter(({ from, to }) => from === name || to === name).length;
  const box =
    boxes.find(({ name }) => name === chosen) ??
    boxes.toSorted((a, b) => count(b.name) - count(a.name))[0];
  return box ? { x: box.x + box.width / 2, y: box.y + box.height / 2 } : null;
}

function ViewButtons({ viewed: { zoom, fit, view } }: { viewed: Viewed }) {
  return (
    <>
      <Button onClick={() => zoom(1 / ZOOM)}>{t('Zoom out')}</Button>
      <output class="quiet zoom-level">{Math.round(view.scale * 100)} %</output>
      <Button onClick={() => zoom(ZOOM)}>{t('Zoom in')}</Button>
      <Button onClick={fit}>{t('Fit')}</Button>
    </>
  );
}

interface DrawingProps {
  readonly placed: Placed;
  readonly viewed: Viewed;
  /** The type whose lines are highlighted. */
  readonly lit: string | null;
  setPointed(name: string | null): void;
}

function Drawing({ placed, viewed, lit, setPointed }: DrawingProps) {
  const { view, svg } = viewed;
  const drag = useDrag(viewed);
  useWheel(viewed);
  const near = useMemo(() => neighbours(placed, lit), [placed, lit]);
  const place = `scale(${view.scale}) translate(${-view.x} ${-view.y})`;
  const onFocus = (box: PlacedBox) => {
    setPointed(box.name);
    viewed.reveal(box);
  };
  return (
    <svg
      ref={svg}
      class="model-graph"
      aria-label={t('Model graph')}
      tabindex={0}
      onKeyDown={(event) => moveByKey(event, viewed)}
      {...drag}
    >
      <Markers />
      <g transform={place} class={classOf(placed, lit)}>
        {placed.edges.map((edge, index) => (
          <GraphEdge key={index} edge={edge} lit={edge.from === lit || edge.to === lit} />
        ))}
        {placed.boxes.map((box) => (
          <GraphBox
            key={box.name}
            {...{ box, link: linkOfType(box.name), near: near.has(box.name), setPointed }}
            onFocus={() => onFocus(box)}
          />
        ))}
      </g>
    </svg>
  );
}

/** With many types, lines are drawn in a weaker colour. */
function classOf({ boxes }: Placed, lit: string | null): string | undefined {
  const compact = boxes.every(({ lines }) => lines.length === 0);
  return [compact && 'compact', lit !== null && 'with-lit'].filter(Boolean).join(' ') || undefined;
}

function neighbours({ edges }: Placed, lit: string | null): ReadonlySet<string> {
  if (lit === null) return new Set();
  const near = edges.flatMap(({ from, to }) => (from === lit ? [to] : to === lit ? [from] : []));
  return new Set([lit, ...near]);
}

const MOVES: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [STEP, 0],
  ArrowRight: [-STEP, 0],
  ArrowUp: [0, STEP],
  ArrowDown: [0, -STEP],
};

function moveByKey(event: KeyboardEvent, { pan, zoom, fit }: Viewed): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const move = MOVES[event.key];
  if (move) pan(...move);
  else if (event.key === '+' || event.key === '=') zoom(ZOOM);
  else if (event.key === '-') zoom(1 / ZOOM);
  else if (event.key === '0') fit();
  else return;
  event.preventDefault();
}

/** The wheel zooms around the pointer. Browsers let only a listener that is not passive do so. */
function useWheel({ svg, zoom }: Viewed): void {
  const last = useRef(zoom);
  last.current = zoom;
  useEffect(() => {
    const element = svg.current;
    if (!element) return;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : 1;
      const factor = Math.exp(-Math.max(-120, Math.min(120, event.deltaY * lines)) / 500);
      last.current(factor, { x: event.clientX - left, y: event.clientY - top });
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, []);
}

/** Pixels that a pointer may move and still click. */
const STILL = 4;

/** Moving a pressed pointer moves the drawing. A link under the pointer is then not followed. */
function useDrag({ pan }: Viewed) {
  const held = useRef<{ x: number; y: number; moved: number } | null>(null);
  const moved = useRef(false);
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return;
      moved.current = false;
      held.current = { x: event.clientX, y: event.clientY, moved: 0 };
    },
    onPointerMove: (event: PointerEvent) => {
      const from = held.current;
      if (!from) return;
      const [x, y] = [event.clientX - from.x, event.clientY - from.y];
      const far = from.moved + Math.hypot(x, y);
      if (far > STILL && !moved.current) {
        moved.current = true;
        (event.currentTarget as Element).setPointerCapture(event.pointerId);
      }
      held.current = { x: event.clientX, y: event.clientY, moved: far };
      if (moved.current) pan(x, y);
    },
    onPointerUp: () => (held.current = null),
    onPointerCancel: () => (held.current = null),
    onClickCapture: (event: MouseEvent) => {
      if (!moved.current) return;
      event.preventDefault();
      event.stopPropagation();
      moved.current = false;
    },
    onDragStart: (event: DragEvent) => event.preventDefault(),
  };
}

/** The ends of lines: one row, or many (a crow's foot). */
function Markers() {
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
function GraphEdge({ edge, lit }: { edge: PlacedEdge; lit: boolean }) {
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

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Point } from './graph-model.ts';

/** The part of the drawing that is seen: its upper left corner, and how large a unit is. */
export interface View extends Point {
  readonly scale: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Viewed {
  readonly view: View;
  readonly svg: { current: SVGSVGElement | null };
  /** Shows the whole drawing. */
  fit(): void;
  /** Enlarges around the middle, or around a point of the window. */
  zoom(factor: number, around?: Point): void;
  pan(x: number, y: number): void;
  /** Moves a place of the drawing into what is seen. */
  reveal(box: Point & Size): void;
}

const SMALLEST = 0.05;
const LARGEST = 4;
/**
 * The smallest scale at which names can be read. A larger drawing starts at this scale and is not
 * shown as a whole.
 */
const READABLE = 0.62;
const MARGIN = 24;

/** Pan and zoom of a drawing in its window. */
export function useView(drawing: Size, first: Point | null): Viewed {
  const svg = useRef<SVGSVGElement>(null);
  const [view, setView] = useState<View>({ x: 0, y: 0, scale: 1 });
  const sizeOf = (): Size => svg.current?.getBoundingClientRect() ?? { width: 1, height: 1 };
  const fit = () => setView(whole(drawing, sizeOf()));
  useEffect(() => setView(beginning(drawing, sizeOf(), first)), [drawing]);
  const zoom = (factor: number, around?: Point) => {
    const { width, height } = sizeOf();
    const at = around ?? { x: width / 2, y: height / 2 };
    setView((last) => zoomed(last, factor, at));
  };
  const pan = (x: number, y: number) =>
    setView((last) => ({ ...last, x: last.x - x / last.scale, y: last.y - y / last.scale }));
  const reveal = (box: Point & Size) => setView((last) => revealed(last, sizeOf(), box));
  return { view, svg, fit, zoom, pan, reveal };
}

function whole(drawing: Size, window: Size): View {
  const scale = clamp(
    Math.min(
      (window.width - MARGIN * 2) / Math.max(1, drawing.width),
      (window.height - MARGIN * 2) / Math.max(1, drawing.height),
      1.25,
    ),
  );
  return {
    scale,
    x: drawing.width / 2 - window.width / 2 / scale,
    y: drawing.height / 2 - window.height / 2 / scale,
  };
}

function beginning(drawing: Size, window: Size, first: Point | null): View {
  const all = whole(drawing, window);
  if (all.scale >= READABLE || first === null) return all;
  return {
    scale: READABLE,
    x: first.x - window.width / 2 / READABLE,
    y: first.y - window.height / 2 / READABLE,
  };
}

function zoomed({ x, y, scale }: View, factor: number, at: Point): View {
  const next = clamp(scale * factor);
  return { scale: next, x: x + at.x / scale - at.x / next, y: y + at.y / scale - at.y / next };
}

function revealed(view: View, window: Size, box: Point & Size): View {
  const [width, height] = [window.width / view.scale, window.height / view.scale];
  const inside =
    box.x >= view.x &&
    box.y >= view.y &&
    box.x + box.width <= view.x + width &&
    box.y + box.height <= view.y + height;
  if (inside) return view;
  const scale = Math.max(view.scale, READABLE);
  return {
    scale,
    x: box.x + box.width / 2 - window.width / 2 / scale,
    y: box.y + box.height / 2 - window.height / 2 / scale,
  };
}

const clamp = (scale: number) => Math.min(LARGEST, Math.max(SMALLEST, scale));

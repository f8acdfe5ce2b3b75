import type { Box, Edge } from './graph-model.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A box with the position of its upper left corner. */
export interface PlacedBox extends Box, Point {}

export interface PlacedEdge extends Edge {
  readonly points: readonly Point[];
}

export interface Placed {
  readonly boxes: readonly PlacedBox[];
  readonly edges: readonly PlacedEdge[];
  readonly width: number;
  readonly height: number;
}

import type { DescribedRelation, DescribedType } from '../../../flows/schema.ts';

/** A line of text in a box. */
export interface BoxLine {
  readonly name: string;
  readonly type: string;
  readonly relation: boolean;
}

/** A type as it is drawn. */
export interface Box {
  readonly name: string;
  readonly kind: DescribedType['kind'];
  readonly lines: readonly BoxLine[];
  /** Lines that are left out. */
  readonly more: number;
  readonly width: number;
  readonly height: number;
}

/** The end of a line: how many rows of this side belong to one row of the other. */
export type End = 'one' | 'many' | 'none';

/** A line between two types. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  /** The meaning of the line, for its title. */
  readonly label: string;
  readonly fromEnd: End;
  readonly toEnd: End;
}

export interface GraphModel {
  readonly boxes: readonly Box[];
  readonly edges: readonly Edge[];
  /** Whether boxes show their fields. */
  readonly detailed: boolean;
}

/** With more types than this, a box shows only its name. */
const DETAILED = 40;
const MOST_LINES = 9;
const LONGEST = 30;
/** Of one character of the font for code, in units of the drawing. */
const CHARACTER = 7.3;
export const HEAD = 30;
export const LINE = 18;
const PADDING = 12;

/** The boxes and lines of the types. */
export function graphOf(types: readonly DescribedType[]): GraphModel {
  const detailed = types.length <= DETAILED;
  const shown = detailed ? types : types.filter(({ kind }) => kind !== 'enum');
  const names = new Set(shown.map(({ name }) => name));
  return {
    boxes: shown.map((type) => boxOf(type, detailed)),
    edges: [...relationEdges(shown), ...memberEdges(shown), ...enumEdges(shown)].filter(
      ({ from, to }) => names.has(from) && names.has(to),
    ),
    detailed,
  };
}

/** A name that is too long for a box ends in dots; its title has it whole. */
export const cut = (text: string, most = LONGEST): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

function boxOf(type: DescribedType, detailed: boolean): Box {
  const all = detailed ? linesOf(type) : [];
  const lines = all.length > MOST_LINES ? all.slice(0, MOST_LINES - 1) : all;
  const widest = Math.max(
    cut(type.name).length * 1.12,
    ...lines.map(({ name, type: of }) => cut(name).length + cut(of, 18).length + 2),
  );
  const more = all.length - lines.length;
  const rows = lines.length + (more > 0 ? 1 : 0);
  return {
    ...{ name: type.name, kind: type.kind, lines, more },
    width: Math.ceil(widest * CHARACTER + PADDING * 2),
    height: HEAD + (rows > 0 ? rows * LINE + 8 : 0),
  };
}

function linesOf({ kind, fields = [], relations = [], values = [] }: DescribedType): BoxLine[] {
  if (kind === 'enum') return values.map((name) => ({ name, type: '', relation: false }));
  return [
    ...fields.map(({ name, type }) => ({ name, type, relation: false })),
    ...relations.map(({ field, to, kind: many }) => ({
      name: field,
      type: many === 'many' ? `[${to}]` : to,
      relation: true,
    })),
  ];
}

/** Two fields that are each other's inverse are one line. */
function relationEdges(types: readonly DescribedType[]): Edge[] {
  const relations = new Map<string, DescribedRelation>(
    types.flatMap(({ name, relations: all = [] }) =>
      all.map((relation) => [`${name}.${relation.field}`, relation] as const),
    ),
  );
  const drawn = new Set<string>();
  return types.flatMap(({ name, relations: all = [] }) =>
    all.flatMap((relation) => {
      const own = `${name}.${relation.field}`;
      const other = relation.inverse === null ? null : `${relation.to}.${relation.inverse}`;
      if (drawn.has(own) || (other !== null && drawn.has(other))) return [];
      drawn.add(own);
      const back = other === null ? undefined : relations.get(other);
      if (other !== null) drawn.add(other);
      return [edgeOf(name, relation, back)];
    }),
  );
}

/**
 * A line from the type with the column to the other type, so that both ends show how many rows
 * there are.
 */
function edgeOf(name: string, relation: DescribedRelation, back?: DescribedRelation): Edge {
  const { field, to, kind, inverse, column } = relation;
  const label = `${name}.${field}${inverse === null ? '' : ` ⇄ ${to}.${inverse}`}`;
  const turned = kind === 'many' && column !== null;
  const own: End = back ? back.kind : kind === 'one' ? 'many' : 'none';
  const edge = { from: name, to, label, fromEnd: own, toEnd: kind };
  return turned ? { from: to, to: name, label, fromEnd: kind, toEnd: back?.kind ?? 'one' } : edge;
}

const memberEdges = (types: readonly DescribedType[]): Edge[] =>
  types
    .filter(({ kind }) => kind === 'interface' || kind === 'union')
    .flatMap(({ name, kind, values = [] }) =>
      values.map((member) => ({
        from: member,
        to: name,
        label: kind === 'union' ? `${member} | ${name}` : `${member} implements ${name}`,
        fromEnd: 'none' as const,
        toEnd: 'none' as const,
      })),
    );

function enumEdges(types: readonly DescribedType[]): Edge[] {
  const enums = new Set(types.filter(({ kind }) => kind === 'enum').map(({ name }) => name));
  return types.flatMap(({ name, fields = [] }) =>
    fields.flatMap(({ name: field, type }) => {
      const of = type.replaceAll(/[[\]!]/g, '');
      if (!enums.has(of)) return [];
      const ends = { fromEnd: 'none', toEnd: 'none' } as const;
      return [{ from: name, to: of, label: `${name}.${field}`, ...ends }];
    }),
  );
}

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

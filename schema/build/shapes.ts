import type { ASTNode } from 'graphql';
import type { Column, FilterShape, OrderShape, Write, WriteShape } from '../model.ts';
import { buildColumns } from './columns.ts';
import type { Facts, FieldFact } from './facts.ts';
import type { Links } from './links.ts';

/**
 * The reason why something cannot be inferred. It is thrown, and caught where a whole field or a
 * member of an input is read.
 */
export class Refusal {
  readonly why: string;
  /** The code of the finding, if it is not the general one. */
  readonly code?: string | undefined;
  /** The position of the finding, if it is not the field. */
  readonly node?: ASTNode | undefined;
  /** The correction, if it is clear. */
  readonly fix?: string | undefined;
  /** The inferred result with `@resolve(as:)`, if only the field's name prevented it. */
  readonly forced?: string | undefined;
  /** The arguments of the `@resolve` that would settle it. */
  readonly resolve?: Readonly<Record<string, string>> | undefined;
  /** Unknown operators of a filter, with their positions. */
  readonly words?: readonly UnknownWord[] | undefined;

  constructor(why: string, more: Partial<Refusal> = {}) {
    Object.assign(this, more);
    this.why = why;
  }
}

/**
 * What can be inferred, or why it cannot.
 *
 * @example attempt(() => listOptions(shapes, field, post)) // { filters: […], … }
 */
export function attempt<Found>(infer: () => Found): Found | Refusal {
  try {
    return infer();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** Reads each item into a list, which may be in use already: inputs contain themselves. */
export function readEach<Item, Read>(
  items: Iterable<Item>,
  into: Read[],
  read: (item: Item) => Read,
  onRefusal: (refusal: Refusal) => void,
): void {
  for (const item of items) {
    const found = attempt(() => read(item));
    if (found instanceof Refusal) onRefusal(found);
    else into.push(found);
  }
}

/** An unknown operator of a filter. */
export interface UnknownWord {
  /** The input or the field, with the operator: `StringFilter._eq`. */
  readonly coordinate: string;
  readonly at: ASTNode | undefined;
  readonly fix: string;
}

/**
 * The inputs inferred so far. They are collected while operations are inferred, because only
 * operations show which inputs are used and how.
 */
export interface Shapes {
  readonly facts: Facts;
  readonly links: Links;
  readonly filters: Map<string, FilterShape>;
  /**
   * Filters that were checked with all filters they lead to. In a large schema, these are most of
   * the others.
   */
  readonly understood: Set<FilterShape>;
  readonly orders: Map<string, OrderShape>;
  readonly writes: Map<string, WriteShape>;
  /** The members of inputs that are operators over the old value, by their coordinate. */
  readonly operators: Map<Write, string>;
  /** Inputs that could not be inferred, with the reason. */
  readonly refused: Map<string, Refusal>;
  /** Write shapes that are not complete yet. */
  readonly open: Set<string>;
  /** Every entity's columns. */
  readonly columns: ReadonlyMap<string, readonly Column[]>;
}

export function createShapes(facts: Facts, links: Links): Shapes {
  const columns = new Map(
    [...facts.entities].map(([name, entity]) => [name, buildColumns(entity, facts, links)]),
  );
  return {
    facts,
    links,
    columns,
    filters: new Map(),
    understood: new Set(),
    orders: new Map(),
    writes: new Map(),
    operators: new Map(),
    refused: new Map(),
    open: new Set(),
  };
}

/** A column that a name can mean: a column of the entity, or the key of a relation. */
export interface NamedColumn {
  readonly column: string;
  /** The name of its scalar or enum; `ID` for keys. */
  readonly scalar: string;
  readonly field: FieldFact;
  readonly json: boolean;
  /** Whether it holds a key: arguments of type `String` and `Int` are accepted as well as `ID`. */
  readonly key: boolean;
}

/** Whether a field has several rows: a list or a connection. */
export const isListEnd = ({ facts }: Pick<Shapes, 'facts'>, { type, named }: FieldFact): boolean =>
  type.list || facts.types.get(named.name)?.role === 'connection';

/**
 * The shape of an input that was read before.
 *
 * @throws Refusal when it was refused, or is about other rows
 */
export function knownShape<Shape extends { readonly entity: string }>(
  { refused }: Shapes,
  known: ReadonlyMap<string, Shape>,
  name: string,
  { verb, of }: { readonly verb: 'filter' | 'order'; readonly of: string },
): Shape | undefined {
  const present = known.get(name);
  if (present && present.entity !== of)
    throw new Refusal(
      `${name} ${verb}s ${present.entity} elsewhere, and here it would ${verb} ${of}`,
    );
  const refusal = refused.get(name);
  if (refusal) throw refusal;
  return present;
}

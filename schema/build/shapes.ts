import type { ASTNode } from 'graphql';
import type { Column, FilterShape, OrderShape, WriteShape } from '../model.ts';
import { buildColumns } from './columns.ts';
import type { Facts, FieldFact } from './facts.ts';
import type { Links } from './links.ts';

/** The reason why something could not be inferred. */
export interface Refusal {
  /** The code of the finding, if it is not the general one. */
  readonly code?: string;
  readonly why: string;
  /** The position of the finding, if it is not the field. */
  readonly node?: ASTNode;
  /** The correction, if it is clear. */
  readonly fix?: string;
  /** The inferred result with `@resolve(as:)`, if only the field's name prevented it. */
  readonly forced?: string;
  /** The arguments of the `@resolve` that would settle it. */
  readonly resolve?: Readonly<Record<string, string>>;
  /** Unknown operators of a filter, with their positions. */
  readonly words?: readonly UnknownWord[];
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
    refused: new Map(),
    open: new Set(),
  };
}

export function isRefusal(value: object): value is Refusal {
  return 'why' in value;
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

import type { Column, FilterShape, OrderShape, WriteShape } from '../model.ts';
import { buildColumns } from './columns.ts';
import type { Facts, FieldFact } from './facts.ts';
import type { Links } from './links.ts';

/** Why something could not be inferred. */
export interface Refusal {
  /** Code of the finding, when it is a special one. */
  readonly code?: string;
  readonly why: string;
  /** What to write instead, if it is clear. */
  readonly fix?: string;
  /** What `@resolve(as:)` would make of it, where only the name is in the way. */
  readonly forced?: string;
}

/**
 * The inputs understood so far; filled while operations are inferred, because only they say which
 * inputs are used and for what.
 */
export interface Shapes {
  readonly facts: Facts;
  readonly links: Links;
  readonly filters: Map<string, FilterShape>;
  readonly orders: Map<string, OrderShape>;
  readonly writes: Map<string, WriteShape>;
  /** Inputs that could not be understood, with the reason. */
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
    orders: new Map(),
    writes: new Map(),
    refused: new Map(),
    open: new Set(),
  };
}

export function isRefusal(value: object): value is Refusal {
  return 'why' in value;
}

/** What an entity answers to by name: a column of its own, or the key of a relation. */
export interface NamedColumn {
  readonly column: string;
  /** Name of its scalar or enum; `ID` for keys. */
  readonly scalar: string;
  readonly field: FieldFact;
  readonly json: boolean;
  /** Whether it holds a key: `String` and `Int` can ask for one as well as `ID`. */
  readonly key: boolean;
}

import type { Grouping, ListOptions, Operation } from '@twofold/schema';
import type { FieldNode } from 'graphql';
import type { Rules } from '../../data/access/access.ts';
import type { Model } from '../../data/model.ts';
import type { Selection } from '../../data/plan.ts';
import type { ErrorCases } from '../error-members.ts';
import type { SelectionContext } from './collect.ts';

/** What is needed to make a plan, for one operation and one class of callers. */
export interface Planning {
  readonly model: Model;
  readonly rules: Rules;
  readonly selecting: SelectionContext;
  /** Whether user code answers the field. */
  isCustom(type: string, field: string): boolean;
  /** The errors that members of a mutation's result take. */
  casesOf?(operation: Operation): { readonly cases?: ErrorCases };
  /** Whether answers hold values of the scalar exactly as the database writes them. */
  isPlain(scalar: string): boolean;
}

/** A part of an operation that one statement answers. */
export interface Plan<Node> {
  readonly node: Node;
  readonly calls: readonly CallSource[];
  /** Whether the JSON of the database goes into the answer unchanged. */
  readonly pure: boolean;
  /** Whether the result may hold markers for missing or refused values. */
  readonly marks: boolean;
}

/** How the arguments of a plan node are read. */
export type CallSource = {
  readonly type: string;
  readonly field: string;
  readonly node: FieldNode;
} & (
  | {
      readonly read: 'list';
      readonly entity: string;
      readonly list: ListOptions;
      readonly groups?: Grouping;
      /** The types of the rows, for a list of an interface or union. */
      readonly members?: readonly string[];
    }
  | {
      readonly read: 'get';
      readonly by: readonly { readonly arg: string; readonly column: string }[];
    }
  | { readonly read: 'node' | 'nodes'; readonly arg: string }
  /** Reads no arguments: the key of a row that was just written. */
  | { readonly read: 'key' }
);

/** A plan while it is built, with notes that its parts made. */
export interface Tree {
  readonly planning: Planning;
  readonly notes: Notes;
  /**
   * Plans an object. It is passed to connections, because objects hold connections and connections
   * hold objects. `call`: the number of the list whose rows the objects are.
   */
  selection(entity: string, nodes: readonly FieldNode[], call?: number): Selection;
}

interface Notes {
  readonly calls: CallSource[];
  pure: boolean;
  marks: boolean;
  /** Whether an object may have one of several types, and its text does not say which. */
  abstract: boolean;
}

export const newNotes = (): Notes => ({ calls: [], pure: true, marks: false, abstract: false });

/** Adds a source of arguments and returns its number, under which its values are found later. */
export const numberOf = ({ notes }: Tree, call: CallSource): number => notes.calls.push(call) - 1;

/**
 * A result with markers goes to the executor, which must know the type of every object. So a plan
 * with markers and abstract types is not pure.
 */
export const planOf = <Node>(
  node: Node,
  { notes: { calls, pure, marks, abstract } }: Tree,
): Plan<Node> => ({ node, calls, pure: pure && !(marks && abstract), marks });

/** One field of the answer: its key, and the nodes that select it. */
export interface SelectedField {
  readonly key: string;
  readonly nodes: readonly FieldNode[];
  /** The number of the call of the list to which the object belongs. */
  readonly call?: number | undefined;
}

/** The field that the nodes of one key select. */
export const fieldNameOf = (nodes: readonly FieldNode[]): string =>
  (nodes[0] as FieldNode).name.value;

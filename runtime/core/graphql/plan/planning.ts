import type { ListOptions } from '@twofold/schema';
import type { FieldNode } from 'graphql';
import type { Rules } from '../../data/access.ts';
import type { Model } from '../../data/model.ts';
import type { Selection } from '../../data/plan.ts';
import type { Selecting } from './collect.ts';

/** What a plan is made from, for one operation and one class of callers. */
export interface Planning {
  readonly model: Model;
  readonly rules: Rules;
  readonly selecting: Selecting;
  /** Whether user code answers the field. */
  isCustom(type: string, field: string): boolean;
  /** Whether values of the scalar go to the wire as the database writes them. */
  isPlain(scalar: string): boolean;
}

/** A part of an operation that one statement answers. */
export interface Plan<Node> {
  readonly node: Node;
  readonly calls: readonly CallSource[];
  /** The JSON of the database is the answer's own, to the letter. */
  readonly pure: boolean;
  /** Markers may stand in it, where something must be there and is not, or is not for this caller. */
  readonly marks: boolean;
}

/** How the arguments of a node of the plan are read. */
export type CallSource = {
  readonly type: string;
  readonly field: string;
  readonly node: FieldNode;
} & (
  | { readonly read: 'list'; readonly entity: string; readonly list: ListOptions }
  | {
      readonly read: 'get';
      readonly by: readonly { readonly arg: string; readonly column: string }[];
    }
  | { readonly read: 'node'; readonly arg: string }
  /** Not from arguments: a row that was just written. */
  | { readonly read: 'key' }
);

/** A tree that is being planned, with what was noted on the way. */
export interface Tree {
  readonly planning: Planning;
  readonly notes: Notes;
  /** Plans an object. Connections are given it, because objects hold connections and connections hold objects. */
  selection(entity: string, nodes: readonly FieldNode[]): Selection;
}

interface Notes {
  readonly calls: CallSource[];
  pure: boolean;
  marks: boolean;
  /** Whether an object may be of several types: its text does not tell which. */
  abstract: boolean;
}

export const newNotes = (): Notes => ({ calls: [], pure: true, marks: false, abstract: false });

/** The number under which the values of a node's arguments are found. */
export const numberOf = ({ notes }: Tree, call: CallSource): number => notes.calls.push(call) - 1;

/** Where a mark stands the executor has to go on, and it has to know what every object is. */
export const planOf = <Node>(
  node: Node,
  { notes: { calls, pure, marks, abstract } }: Tree,
): Plan<Node> => ({ node, calls, pure: pure && !(marks && abstract), marks });

/** The field that all nodes of one member of the answer ask for. */
export const fieldNameOf = (nodes: readonly FieldNode[]): string =>
  (nodes[0] as FieldNode).name.value;

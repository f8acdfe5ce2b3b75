import type { Access } from '../../data/access/access.ts';
import type { Selection } from '../../data/plan.ts';
import { columnsOf, type RowConditions } from '../../data/access/row-condition.ts';
import type { OperationPlan, RootPlan } from './operation.ts';
import type { CallSource, Plan } from './planning.ts';

/**
 * Prints a plan for people: a line for each field with its kind, its source and its arguments.
 *
 * @example printPlan(plan) // 'users: list User (limit)\n  id: column id\n  posts: many Post by author_id\n    title: column title'
 */
export const printPlan = ({ roots, pure }: OperationPlan): string =>
  [...roots.flatMap(rootLines), ...(pure ? [] : ['(the executor puts the answer together)'])].join(
    '\n',
  );

/** What is common to the printed form of all nodes of a plan. */
interface Printed {
  readonly key?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly code?: string;
  readonly value?: string;
  readonly entity?: string;
  readonly type?: string;
  readonly column?: string;
  readonly call?: number;
  readonly link?: { readonly column?: string; readonly table?: string };
  readonly only?: RowConditions;
  readonly access?: Access;
  readonly selection?: Selection;
  readonly fields?: readonly Printed[];
  readonly members?: readonly { readonly entity: string; readonly selection: Selection }[];
}

function rootLines(root: RootPlan): readonly string[] {
  if (root.kind === 'read' || root.kind === 'event') return planLines(root.key, root.plan);
  if (root.kind !== 'write') return nodeLines(root as Printed, []);
  const parts = root.parts.flatMap((part) =>
    part.kind === 'entity' && 'node' in part.plan
      ? planLines(part.key, part.plan)
      : nodeLines(part as Printed, []),
  );
  return [
    `${root.key}: ${root.operation.action.kind} ${root.type}${root.returning ? ', answered by the insert' : ''}`,
    ...indented(parts),
  ];
}

function planLines(key: string, { node, calls, pure, marks }: Plan<object>): readonly string[] {
  const [first = '', ...rest] = nodeLines({ ...(node as Printed), key }, calls);
  return [`${first}${pure ? '' : ', as a tree'}${marks ? ', may be marked' : ''}`, ...rest];
}

function nodeLines(node: Printed, calls: readonly CallSource[]): readonly string[] {
  const { link, selection, members = [] } = node;
  const of =
    node.code ?? node.value ?? node.entity ?? selection?.entity ?? node.column ?? node.type;
  const columns = columnsOf(
    node.only ?? (node.access?.kind === 'rows' ? node.access.conditions : []),
  );
  const words = [
    node.kind ?? node.name,
    of,
    link && `by ${link.column ?? link.table}`,
    node.call !== undefined && takes(calls[node.call]),
    columns.length > 0 && `for its ${columns.join(' or ')}`,
  ];
  const inner = [
    ...(selection
      ? selectionLines(selection, calls)
      : (node.fields ?? []).flatMap((field) => nodeLines(field, calls))),
    ...members.flatMap((member) => [
      `of ${member.entity}`,
      ...indented(selectionLines(member.selection, calls)),
    ]),
  ];
  return [`${node.key || 'answer'}: ${words.filter(Boolean).join(' ')}`, ...indented(inner)];
}

const selectionLines = ({ fields, row }: Selection, calls: readonly CallSource[]) => [
  ...fields.flatMap((field) => nodeLines(field as Printed, calls)),
  ...(row ? ['(the whole row, for functions)'] : []),
];

function takes(call: CallSource | undefined): string {
  const names = (call?.node.arguments ?? []).map(({ name }) => name.value);
  return call?.read !== 'key' && names.length > 0 ? `(${names.join(', ')})` : '';
}

const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`);

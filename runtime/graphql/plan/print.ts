import type { ConnectionPart, EdgePart, Link, Member, Planned, Root, Shape } from '../../data/plan.ts';
import type { OperationPlan, RootPlan, WritePart } from './operation.ts';
import type { CallSource, Plan } from './planning.ts';

/**
 * A plan for people: a line for each member of the answer, with where it comes from and which arguments it takes.
 *
 * @example printPlan(plan) // 'users: list of User (limit)\n  id: column id\n  posts: many Post by author_id\n    title: column title'
 */
export function printPlan({ roots, pure }: OperationPlan): string {
  return [...roots.flatMap(rootLines), ...(pure ? [] : ['(the executor puts the answer together)'])].join('\n');
}

type Lines = readonly string[];

const indented = (lines: Lines): Lines => lines.map((line) => `  ${line}`);

function rootLines(root: RootPlan): Lines {
  switch (root.kind) {
    case 'typename':
      return [`${root.key}: type name ${root.value}`];
    case 'function':
      return [`${root.key}: function`];
    case 'refused':
      return [`${root.key}: refused, ${root.code}`];
    case 'read':
      return planLines(root.key, root.plan);
    case 'event':
      return planLines(`${root.key} (event)`, root.plan);
    case 'write':
      return [`${root.key}: ${root.operation.action.kind} ${'entity' in root.operation.action ? root.operation.action.entity : ''}${root.returning ? ', answered by the insert' : ''}`, ...indented(root.parts.flatMap(partLines))];
  }
}

function partLines(part: WritePart): Lines {
  const name = part.key === '' ? 'answer' : part.key;
  if (part.kind !== 'entity') return [`${name}: ${part.kind}`];
  return 'code' in part.plan ? [`${name}: refused, ${part.plan.code}`] : planLines(name, part.plan);
}

function planLines(key: string, { node, calls, pure, marks }: Plan<Root>): Lines {
  const notes = `${pure ? '' : ', as a tree'}${marks ? ', may be marked' : ''}`;
  const [first = '', ...rest] = nodeLines(key, node, calls);
  return [first + notes, ...rest];
}

function nodeLines(key: string, node: Root, calls: readonly CallSource[]): Lines {
  const taken = takes(calls[node.call]);
  switch (node.kind) {
    case 'get':
      return [`${key}: one ${node.entity}${owned(node.owners)}${taken}`, ...shapeLines(node.shape, calls)];
    case 'list':
      return [`${key}: list of ${node.entity}${owned(node.owners)}${taken}`, ...shapeLines(node.shape, calls)];
    case 'connection':
      return [`${key}: connection of ${node.entity}${owned(node.owners)}${taken}`, ...indented(node.fields.flatMap((part) => connectionLines(part, calls)))];
    case 'abstractList':
      return [`${key}: list of ${node.type}${taken}`, ...memberLines(node.members, calls)];
    case 'node':
      return [`${key}: node${taken}`, ...memberLines(node.members, calls)];
    case 'count':
      return [`${key}: count of ${node.entity}${taken}`];
  }
}

const owned = (owners?: readonly string[]) => (owners?.length ? ` whose ${owners.join(' or ')} is the caller` : '');

function takes(call: CallSource | undefined): string {
  const names = call?.read === 'key' ? ['its key'] : (call?.node.arguments ?? []).map(({ name }) => name.value);
  return names.length > 0 ? ` (${names.join(', ')})` : '';
}

const shapeLines = ({ fields, row }: Shape, calls: readonly CallSource[]): Lines => indented([...fields.flatMap((field) => fieldLines(field, calls)), ...(row ? ['(the whole row, for functions)'] : [])]);

const memberLines = (members: readonly Member[], calls: readonly CallSource[]): Lines => indented(members.flatMap(({ entity, shape }) => [`of ${entity}`, ...shapeLines(shape, calls)]));

function fieldLines(field: Planned, calls: readonly CallSource[]): Lines {
  const only = 'only' in field && field.only ? `, for its ${field.only.join(' or ')} alone` : '';
  switch (field.kind) {
    case 'column':
      return [`${field.key}: column ${field.column}${only}`];
    case 'typename':
      return [`${field.key}: type name ${field.value}`];
    case 'refused':
      return [`${field.key}: refused, ${field.code}`];
    case 'one':
      return [`${field.key}: ${field.required ? 'one' : 'one or no'} ${field.shape.entity} by ${field.link.key === 'own' ? '' : 'its '}${field.link.column}${only}`, ...shapeLines(field.shape, calls)];
    case 'many':
      return [`${field.key}: many ${field.entity}${by(field.link)}${takes(calls[field.call])}${only}`, ...shapeLines(field.shape, calls)];
    case 'connection':
      return [`${field.key}: connection of ${field.entity}${by(field.link)}${takes(calls[field.call])}${only}`, ...indented(field.fields.flatMap((part) => connectionLines(part, calls)))];
    case 'abstract':
      return [`${field.key}: ${field.required ? 'one' : 'one or no'} row by ${field.typeColumn} and ${field.column}${only}`, ...memberLines(field.members, calls)];
  }
}

const by = (link?: Link) => (link ? ` by ${link.kind === 'column' ? link.column : link.table}` : '');

function connectionLines(part: ConnectionPart | EdgePart, calls: readonly CallSource[]): Lines {
  switch (part.kind) {
    case 'edges':
      return [`${part.key}: edges`, ...indented(part.fields.flatMap((field) => connectionLines(field, calls)))];
    case 'nodes':
    case 'node':
      return [`${part.key}: ${part.kind}`, ...shapeLines(part.shape, calls)];
    case 'pageInfo':
      return [`${part.key}: page info (${part.fields.map(({ name }) => name).join(', ')})`];
    case 'typename':
      return [`${part.key}: type name ${part.value}`];
    default:
      return [`${part.key}: ${part.kind}`];
  }
}

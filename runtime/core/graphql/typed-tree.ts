import { isRawNumber } from '../data/sql/exact-json.ts';
import { InternalError } from '../errors.ts';
import type {
  Aggregated,
  AggregatePart,
  ConnectionPart,
  Planned,
  Root,
  Selection,
} from '../data/plan.ts';
import { TYPE_KEY } from '../data/sql/scope.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * Adds type names to a result that was read as text, because the executor needs them. So a text
 * with an error that only the executor can report need not be read again.
 *
 * @param marker key of the object that stands for a refused or missing value, see `Reader`.
 * @example withTypes(plan.node, JSON.parse('{"name":"Ada"}'), reader.marker) // { $: 'User', name: 'Ada' }
 */
export function withTypes(node: Root, value: unknown, marker: string): unknown {
  switch (node.kind) {
    case 'get':
      return typed(value, marker, (object) => typedSelection(node.selection, object, marker));
    case 'list':
      return each(value, marker, (object) => typedSelection(node.selection, object, marker));
    case 'connection':
      return typed(value, marker, (object) =>
        typedConnection(node.type, node.fields, object, marker),
      );
    case 'aggregated':
      return typedAggregated(node, value, marker);
    default:
      // An abstract list with markers is read with type names, and a count has no objects, so
      // neither comes here.
      throw new InternalError(`a ${node.kind} has no types to be named`);
  }
}

/** Adds the type name to an object. A null or a marker of a refused field stays as it is. */
function typed(value: unknown, marker: string, name: (object: Members) => Members): unknown {
  return typeof value === 'object' && value !== null && !(marker in value)
    ? name(value as Members)
    : value;
}

const each = (value: unknown, marker: string, name: (object: Members) => Members): unknown =>
  Array.isArray(value) ? value.map((item) => typed(item, marker, name)) : value;

function typedSelection({ entity, fields }: Selection, object: Members, marker: string): Members {
  const named: Record<string, unknown> = { ...object, [TYPE_KEY]: entity };
  for (const field of fields) named[field.key] = ofField(field, object[field.key], marker);
  return named;
}

function ofField(field: Planned, value: unknown, marker: string): unknown {
  switch (field.kind) {
    case 'one':
      return typed(value, marker, (object) => typedSelection(field.selection, object, marker));
    case 'many':
      return each(value, marker, (object) => typedSelection(field.selection, object, marker));
    case 'connection':
      return typed(value, marker, (object) =>
        typedConnection(field.type, field.fields, object, marker),
      );
    case 'aggregated':
      return typedAggregated(field, value, marker);
    case 'abstract':
      throw new InternalError('a field of several types has no types to be named');
    default:
      return value;
  }
}

function typedConnection(
  type: string,
  parts: readonly ConnectionPart[],
  object: Members,
  marker: string,
): Members {
  const named: Record<string, unknown> = { ...object, [TYPE_KEY]: type };
  for (const part of parts) named[part.key] = typedPart(part, object[part.key], marker);
  return named;
}

function typedPart(part: ConnectionPart, value: unknown, marker: string): unknown {
  if (part.kind === 'nodes')
    return each(value, marker, (object) => typedSelection(part.selection, object, marker));
  if (part.kind === 'pageInfo')
    return typed(value, marker, (object) => ({ ...object, [TYPE_KEY]: 'PageInfo' }));
  if (part.kind === 'aggregate')
    return typed(value, marker, (object) => typedFigures(part.type, part.fields, object, marker));
  if (part.kind !== 'edges') return value;
  return each(value, marker, (edge) => {
    const named: Record<string, unknown> = { ...edge, [TYPE_KEY]: part.type };
    for (const field of part.fields)
      if (field.kind === 'node')
        named[field.key] = typed(edge[field.key], marker, (object) =>
          typedSelection(field.selection, object, marker),
        );
    return named;
  });
}

function typedAggregated({ type, fields, grouped }: Aggregated, value: unknown, marker: string) {
  const named = (object: Members) => typedFigures(type, fields, object, marker);
  return grouped ? each(value, marker, named) : typed(value, marker, named);
}

function typedFigures(
  type: string,
  parts: readonly AggregatePart[],
  object: Members,
  marker: string,
): Members {
  const named: Record<string, unknown> = { ...object, [TYPE_KEY]: type };
  for (const part of parts) {
    if (part.kind !== 'figures' && part.kind !== 'groupKey') continue;
    const inner = typed(object[part.key], marker, (of) => ({ ...of, [TYPE_KEY]: part.type }));
    named[part.key] = inner;
    if (part.kind === 'groupKey')
      for (const { planned } of part.fields)
        (inner as Record<string, unknown>)[planned.key] = ofField(
          planned,
          (inner as Members)[planned.key],
          marker,
        );
  }
  return named;
}

/** The value without the members that are marked as missing, or as not for the caller. */
export function withoutMarked(value: unknown, marker: string): unknown {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value;
  if (Array.isArray(value)) return value.map((item) => withoutMarked(item, marker) ?? null);
  if (marker in value) return undefined;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withoutMarked(inner, marker)]),
  );
}

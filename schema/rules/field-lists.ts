import type { ASTNode } from 'graphql';
import { connectionOf } from '../build/connections.ts';
import { coordinate, type EntityFact, type FieldFact } from '../build/facts.ts';
import { parseOrder } from '../build/list-options.ts';
import { columnNames, namedColumn } from '../build/named-columns.ts';
import type { Built } from '../build/built.ts';
import type { Shapes } from '../build/shapes.ts';
import { didYouMean } from '../did-you-mean.ts';
import type { Finding } from '../parse/places.ts';
import { finding, type Rule } from './finding.ts';

/** FIELD_UNKNOWN, LIST_LIMIT: @index and @list must name stored fields, and possible page sizes. */
export const fieldLists: Rule = function* (built) {
  for (const entity of built.facts.entities.values()) {
    for (const index of entity.directives.indexes)
      yield* unknownFields(built.shapes, entity, index.fields, index.node, '@index');
    for (const field of entity.fields.values()) yield* checkList(built, field);
  }
  for (const { field } of built.operations) yield* checkList(built, field);
};

function* checkList(built: Built, field: FieldFact): Generator<Finding> {
  const written = field.directives.list;
  if (!written) return;
  const node = connectionOf(field.named.name, built.facts)?.node ?? field.named;
  const entity = built.facts.entities.get(node.name);
  if (entity)
    yield* unknownFields(
      built.shapes,
      entity,
      [...(written.filter ?? []), ...(written.orderBy ?? []).map((text) => parseOrder(text).name)],
      written.node,
      '@list',
    );
  yield* checkSizes(field, written, built.project.api.limits.list);
}

function* checkSizes(
  field: FieldFact,
  {
    default: usual = 1,
    max,
  }: { readonly default?: number | undefined; readonly max?: number | undefined },
  cap: number,
): Generator<Finding> {
  const most = max ?? cap;
  if (usual < 1 || most < 1) yield limit(field, 'a page has at least one row');
  else if (most > cap)
    yield limit(
      field,
      `max ${most} is above the cap of ${cap}`,
      `in manifest.yaml: api: { limits: { list: ${most} } }`,
    );
  else if (usual > most) yield limit(field, `default ${usual} is above max ${most}`);
}

function limit(field: FieldFact, why: string, fix?: string): Finding {
  return finding('LIST_LIMIT', field.directives.list?.node, {
    summary: `The page size of ${coordinate(field)} is not possible`,
    why,
    fix: fix ?? '@list(default: 20, max: 100)',
  });
}

function* unknownFields(
  shapes: Shapes,
  entity: EntityFact,
  names: readonly string[],
  node: ASTNode,
  directive: string,
): Generator<Finding> {
  for (const name of names) {
    const column = namedColumn(shapes, entity, name);
    if (column && !column.json) continue;
    const known = columnNames(shapes, entity);
    const why = column ? 'it is kept as JSON' : undefined;
    yield finding('FIELD_UNKNOWN', node, {
      summary: `${directive} names ${name}, which is no field of ${entity.name} that can be compared`,
      why,
      fix: didYouMean(name, known) ?? `known: ${known.join(', ')}`,
    });
  }
}

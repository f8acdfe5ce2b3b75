import { ownerColumn } from '../build/auth-rules.ts';
import { coordinate } from '../build/facts.ts';
import type { Built } from '../build/project.ts';
import type { Column, WriteShape } from '../model.ts';
import { finding } from './finding.ts';
import type { Rule } from './finding.ts';

/** CREATE_FIELD_UNSET: a create that leaves out what every row needs would fail each time. */
export const createInputs: Rule = function* (built) {
  for (const { field, operation } of built.operations) {
    const { action } = operation;
    if (action.kind !== 'create') continue;
    const shape = built.shapes.writes.get(action.write);
    const unset = shape ? unsetColumns(built, action.entity, shape) : [];
    if (unset.length === 0) continue;
    const names = unset.map((column) => column.field ?? column.name.replace(/_id$/, ''));
    yield finding('CREATE_FIELD_UNSET', `${coordinate(field)} can never succeed: nothing sets ${names.join(', ')}`, field.node, {
      why: `${names.length === 1 ? 'it is' : 'they are'} required and ${names.length === 1 ? 'has' : 'have'} no default`,
      fix: `add ${names[0]} to the input, give it a @default, or write the field yourself: @resolve(as: CUSTOM)`,
    });
  }
};

/** The owner of a row is whoever makes it, so OWNER rules fill that column. */
function unsetColumns(built: Built, name: string, shape: WriteShape): Column[] {
  const entity = built.facts.entities.get(name);
  if (!entity) return [];
  const owners = new Set(entity.directives.auth.map((use) => (use.allow.includes('OWNER') ? ownerColumn(built.shapes, use, entity) : undefined)));
  const set = new Set(shape.writes.flatMap((write) => writtenColumn(built, name, write)));
  return (built.shapes.columns.get(name) ?? []).filter((column) => column.required && !column.default && !column.stamp && !set.has(column.name) && !owners.has(column.name));
}

function writtenColumn({ facts, links }: Built, entity: string, write: WriteShape['writes'][number]): string[] {
  if (write.kind === 'column') return [write.column];
  if (write.kind !== 'key' && write.kind !== 'nested') return [];
  const field = facts.entities.get(entity)?.fields.get(write.field);
  const link = field && links.byField.get(field);
  return link?.kind === 'own' ? [link.key.column, ...(link.key.typeColumn ? [link.key.typeColumn] : [])] : [];
}

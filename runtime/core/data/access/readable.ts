import { refusal, type Rules } from './access.ts';
import { fieldOfColumn, type EntityModel, type Model } from '../model.ts';

/**
 * The caller may filter and sort only by a field that they may read. In rows where they may not, it
 * has no value.
 */
export function assertReadable(rules: Rules, model: EntityModel, column: string): void {
  const field = fieldOfColumn(model, column);
  if (!field) return;
  const access = rules.field(model.entity, field, 'READ');
  if (access.kind === 'none') throw refusal(access.code);
}

/** Sorting by a key, and a cursor over it, would reveal rows that the caller may not see. */
export function assertSeen(
  model: Model,
  rules: Rules,
  { columns }: EntityModel,
  column: string,
): void {
  const references = columns.get(column)?.references;
  const target = references && model.entities.get(references.entity);
  const access = target && rules.entity(target.entity, 'READ');
  if (access && access.kind !== 'all')
    throw refusal(access.kind === 'none' ? access.code : 'FORBIDDEN');
}

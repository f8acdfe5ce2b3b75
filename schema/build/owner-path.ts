import type { Condition } from '../model.ts';
import { relatedLink, someOf } from './conditions.ts';
import type { EntityFact } from './facts.ts';
import type { Shapes } from './shapes.ts';
import { userEntity } from './user.ts';

/** The most steps from a row to its owner. */
export const OWNER_STEPS = 5;

export type Owner =
  | { readonly kind: 'column'; readonly column: string }
  | { readonly kind: 'path'; readonly condition: Condition }
  /** The rule names no field, and there is none or there are several. */
  | { readonly kind: 'unclear' }
  /** `step` is no relation of `entity`. */
  | { readonly kind: 'unknown'; readonly step: string; readonly entity: EntityFact }
  | { readonly kind: 'not-user'; readonly entity: EntityFact }
  | { readonly kind: 'too-long' };

/**
 * The condition that the caller is the last row of a path of relations; if the path contains a
 * list, that they are one of the rows.
 *
 * @example
 * ownerPath(shapes, 'project.owner', task).condition // { kind: 'related', quantifier: 'some', entity: 'Project', … }
 */
export function ownerPath(shapes: Shapes, path: string, entity: EntityFact): Owner {
  const steps = path.split('.');
  return steps.length > OWNER_STEPS ? { kind: 'too-long' } : follow(shapes, steps, entity);
}

const IS_CALLER: Condition = { kind: 'compare', column: 'id', operator: 'eq', caller: true };

function follow(shapes: Shapes, [step = '', ...rest]: string[], entity: EntityFact): Owner {
  const field = entity.fields.get(step);
  // Rules follow only relations that show all of their rows.
  const isWhole = field && !field.directives.list?.where;
  const link = isWhole ? shapes.links.byField.get(field) : undefined;
  const target = link && shapes.facts.entities.get(link.entity);
  const related = link && relatedLink(link, entity);
  if (!target || !related) return { kind: 'unknown', step, entity };
  if (rest.length === 0)
    return target === userEntity(shapes.facts)
      ? { kind: 'path', condition: someOf(related, target, IS_CALLER) }
      : { kind: 'not-user', entity: target };
  const owner = follow(shapes, rest, target);
  return owner.kind === 'path'
    ? { kind: 'path', condition: someOf(related, target, owner.condition) }
    : owner;
}

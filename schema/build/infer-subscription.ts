import type { ChangeKind } from '../model.ts';
import type { FieldFact } from './facts.ts';
import { isKeyScalar } from './keys.ts';
import type { Inference } from './infer-query.ts';
import type { Shapes } from './shapes.ts';

const CHANGES: Readonly<Record<string, readonly ChangeKind[]>> = {
  Created: ['created'],
  Added: ['created'],
  Updated: ['updated'],
  Deleted: ['deleted'],
  Removed: ['deleted'],
  Changed: ['created', 'updated', 'deleted'],
};

/**
 * The events that feed a field of Subscription: `userCreated`, `onUserUpdated`, `userChanged(id)`.
 *
 * @example
 * inferSubscription(shapes, field) // { action: { kind: 'subscribe', entity: 'User', on: ['created'] }, decidedBy: 'subscription' }
 */
export function inferSubscription({ facts }: Shapes, field: FieldFact): Inference {
  const entity = facts.entities.get(field.named.name);
  if (!entity || field.type.list) return undefined;
  const [, stem = '', word = ''] =
    /^(?:on)?(.+?)(Created|Added|Updated|Deleted|Removed|Changed)$/.exec(field.name) ?? [];
  const on = CHANGES[word];
  if (!on || stem.toLowerCase() !== entity.name.toLowerCase())
    return {
      why:
        `the name does not say which changes of ${entity.name} it tells of: ` +
        `${entity.singular}Created, ${entity.singular}Updated, ` +
        `${entity.singular}Deleted or ${entity.singular}Changed`,
    };
  const [id, other] = field.args;
  if (other || (id && (id.name !== 'id' || !isKeyScalar(id.type.name, facts) || id.type.list)))
    return { why: `the only argument that it can have is id: ID` };
  return {
    action: { kind: 'subscribe', entity: entity.name, on, ...(id && { id: id.name }) },
    decidedBy: 'subscription',
  };
}
